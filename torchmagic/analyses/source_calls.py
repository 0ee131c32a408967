"""This file finds calls of a method in source code and the names they are about, and what a loop assigns."""

import ast

from torchmagic.analyses.syntax import holds, last_name, tree_of


def calls_on(source: str, method: str) -> list[tuple[int, frozenset[str]]]:
    """Return the line of each call of a method, with the last names of what it is called on and given first.

    ``self.opt.step()`` is about ``opt``, ``scaler.step(opt)`` about ``scaler`` and ``opt``.
    """
    found = []
    for node in ast.walk(tree_of(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == method:
            about = [node.func.value, *node.args[:1]]
            found.append((node.lineno, frozenset(name for each in about if (name := _last(each)))))
    return found


def calls_under_condition(source: str, method: str, made: str) -> list[int]:
    """Return the lines in branches of an ``if`` that call a method of what has the name of something made by a call.

    Args:
        source: The code.
        method: The method.
        made: What is called to make it, such as a class.
    """
    nodes = list(ast.walk(tree_of(source)))
    given = [(each.value, to) for each in nodes if isinstance(each, ast.Assign) for to in each.targets]
    names = {_last(to) for value, to in given if isinstance(value, ast.Call) and last_name(value.func) == made}
    branches = [node for node in nodes if isinstance(node, ast.If)]
    lines = [line for line, about in calls_on(source, method) if names & about]
    return [line for line in lines if any(holds(each, line) for each in branches)]


def steps_in_branches(source: str, name: str) -> list[int]:
    """Return the lines in branches of an ``if`` that step what has the last part of a name."""
    branches = [node for node in ast.walk(tree_of(source)) if isinstance(node, ast.If)]
    last = name.rpartition(".")[2]
    return [line for line, about in calls_on(source, "step") if last in about and any(holds(b, line) for b in branches)]


def scaler_in(*sources: str) -> str:
    """Return the name under which code has its gradient scaler, by ``scaler.scale(loss)``; ``scaler`` where none."""
    calls = [node for source in sources for node in ast.walk(tree_of(source)) if isinstance(node, ast.Call)]
    found = [node.func.value for node in calls if isinstance(node.func, ast.Attribute) and node.func.attr == "scale"]
    names = [ast.unparse(each) for each in found if isinstance(each, (ast.Name, ast.Attribute))]
    return names[0] if names else "scaler"


def steps_elsewhere(source: str, name: str, line: int) -> list[int]:
    """Return the lines that step the same object as a line does, outside of the loop that goes backward."""
    about = name.rpartition(".")[2]
    lines = [each for each, names in calls_on(source, "step") if about in names and each != line]
    inner = len(_loops(source, line))
    backwards = [each for each, _ in calls_on(source, "backward")]
    found = []
    for each in lines:
        around = _loops(source, each)
        trains = around and any(holds(around[-1], other) for other in backwards)
        if len(around) < inner or (len(around) == inner and not trains):
            found.append(each)
    return found


def _loops(source: str, line: int) -> list[ast.For | ast.While]:
    """Return the loops around a line, the outermost first."""
    loops = [node for node in ast.walk(tree_of(source)) if isinstance(node, (ast.For, ast.While))]
    return sorted((loop for loop in loops if holds(loop, line)), key=lambda loop: loop.lineno)


def adds_lists(source: str, attribute: str) -> bool:
    """Whether code appends lists or tuples to an attribute: ``self.pairs.append([layer, act])``."""
    return any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "append"
        and _last(node.func.value) == attribute
        and any(isinstance(each, (ast.List, ast.Tuple)) for each in node.args)
        for node in ast.walk(tree_of(source))
    )


def loop_assigns(source: str, line: int, words: tuple[str, ...]) -> bool:
    """Whether a loop around a line assigns to a name that contains one of the words."""
    loops = [node for node in ast.walk(tree_of(source)) if isinstance(node, (ast.For, ast.While))]
    around = [loop for loop in loops if holds(loop, line)]
    assigned = (part for loop in around for part in ast.walk(loop) if isinstance(part, ast.Name))
    return any(isinstance(part.ctx, ast.Store) and any(word in part.id.lower() for word in words) for part in assigned)


def lines_adding_products(source: str) -> list[int]:
    """Return the lines that add up or average a product: ``(a * b).sum()``, ``torch.mean(a * b)``."""
    found = []
    for node in ast.walk(tree_of(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("sum", "mean"):
            products = (
                part for each in (node.func.value, *node.args) for part in ast.walk(each) if isinstance(part, ast.BinOp)
            )
            if any(isinstance(each.op, ast.Mult) for each in products):
                found.append(node.lineno)
    return sorted(set(found))


def _last(node: ast.expr) -> str:
    while isinstance(node, ast.Subscript):
        node = node.value
    return last_name(node)
