"""This file finds what code does with ``.grad`` by hand: the lines that reset it, and whether it is read or scaled."""

import ast
from collections.abc import Iterator

from torchmagic.analyses.syntax import holds, last_name, tree_of

# Methods that empty a tensor in place, and what stands between a gradient and them.
_EMPTYING = frozenset({"zero_", "fill_"})
_PASSING = frozenset({"data", "detach", "detach_"})
_SCALING = frozenset({"mul_", "div_", "true_divide_", "_foreach_mul_", "_foreach_div_"})
_EMPTY = frozenset({"zeros_like", "zeros"})
# Methods that move a tensor from where it was.
_MOVING = frozenset({"sub_", "add_", "addcdiv_", "addcmul_", "lerp_", "copy_"})
# Methods after which somebody is told of gradients, or finds them where none are kept usually.
_HEARING = ("register_hook", "backward_hook", "backward_pre_hook", "accumulate_grad_hook", "retain_grad")


def reset_between(source: str, first: int, last: int) -> int | None:
    """Return the line after ``first``, and up to ``last`` where that comes later, that empties gradients by hand.

    Args:
        source: Source of the cell or file.
        first: Line of the backward; 0 where it is not in the same function as the step.
        last: Line of the step.
    """
    return line_between(source, sorted(set(_resets(source))), first, last)


def line_between(source: str, lines: list[int], first: int, last: int) -> int | None:
    """Return the first of some lines between two others, or else in a function that is called between them.

    Args:
        source: Source of the cell or file.
        lines: The lines, in order.
        first: Line after which it stands.
        last: Line up to which it stands; the end where that does not come later.
    """
    end = last if last > first else 1 << 30
    here = next((line for line in lines if first < line <= end), None)
    return here if here is not None else next(_inside_called(source, lines, first, end), None)


def _inside_called(source: str, lines: list[int], first: int, last: int) -> Iterator[int]:
    """Yield which of these lines stand in a function that is called between two lines."""
    nodes = list(ast.walk(tree_of(source)))
    called = {last_name(node.func) for node in nodes if isinstance(node, ast.Call) and first < node.lineno <= last}
    for node in nodes:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name in called:
            yield from (line for line in lines if holds(node, line))


def reads_gradients(source: str) -> bool:
    """Whether code takes values from ``.grad``, as who updates or inspects by hand does.

    Who only changes them where they are, as by a factor, means them for a step that is still to come.
    """
    if ".grad" not in source:
        return False
    nodes = list(ast.walk(tree_of(source)))
    kept = {id(node) for each in nodes for node in (*_emptied(each), *_changed_in_place(each))}
    compared = {id(each.left) for each in nodes if isinstance(each, ast.Compare)}
    return any(
        _is_gradient(each) and isinstance(getattr(each, "ctx", None), ast.Load) and id(each) not in kept | compared
        for each in nodes
    )


def hooks_gradients(source: str) -> bool:
    """Whether code asks to be told of gradients as they come, or keeps those of what is no leaf."""
    calls = (each for each in ast.walk(tree_of(source)) if isinstance(each, ast.Call))
    return any(last_name(each.func).endswith(_HEARING) for each in calls)


def scales_gradients(source: str) -> bool:
    """Whether code multiplies or divides ``.grad`` by hand."""
    return any(scaled_gradients(each) for each in ast.walk(tree_of(source)))


def lines_stepping(source: str) -> list[int]:
    """Return the 1-based lines that change, by hand, what a gradient is read of: ``p -= lr * m`` beside ``p.grad``."""
    nodes = list(ast.walk(tree_of(source)))
    learning = {ast.unparse(node.value) for node in nodes if isinstance(node, ast.Attribute) and node.attr == "grad"}
    changed = ((node, _changed(node)) for node in nodes)
    return sorted(
        {
            node.lineno
            for node, target in changed
            if isinstance(node, ast.stmt | ast.expr) and target is not None
            if ast.unparse(beneath(target)) in learning
        }
    )


def _changed(node: ast.AST) -> ast.expr | None:
    """Return what a statement or a call changes by what it held before."""
    if isinstance(node, ast.AugAssign):
        return node.target
    if isinstance(node, ast.Assign) and ast.dump(_loaded(node.targets[0])) in map(ast.dump, ast.walk(node.value)):
        return node.targets[0]
    called = node.func if isinstance(node, ast.Call) and node.args else None
    return called.value if isinstance(called, ast.Attribute) and called.attr in _MOVING else None


def _loaded(target: ast.expr) -> ast.expr:
    """Return a target as an expression that reads it."""
    return ast.parse(ast.unparse(target), mode="eval").body


def is_gradient_beneath(node: ast.AST) -> bool:
    """Whether an expression is a ``.grad``, or ``.data``, ``.detach()`` or an index of one."""
    return _is_gradient(beneath(node))


def scaled_gradients(node: ast.AST) -> bool:
    """Whether a statement or a call multiplies or divides ``.grad`` by something."""
    if isinstance(node, ast.AugAssign) and isinstance(node.op, (ast.Mult, ast.Div)):
        return _is_gradient(beneath(node.target))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _SCALING:
        inside = [part for each in node.args for part in ast.walk(each)]
        return _is_gradient(beneath(node.func.value)) or any(_is_gradient(part) for part in inside)
    if isinstance(node, ast.Assign) and any(_is_gradient(beneath(target)) for target in node.targets):
        return isinstance(node.value, ast.BinOp) and isinstance(node.value.op, (ast.Mult, ast.Div))
    return False


def empties(node: ast.AST) -> bool:
    """Whether a statement or a call empties a ``.grad``."""
    return any(True for _ in _emptied(node))


def _resets(source: str) -> Iterator[int]:
    for node in ast.walk(tree_of(source)):
        if empties(node) and isinstance(node, (ast.stmt, ast.expr)):
            yield node.lineno


def _emptied(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the gradients that a statement or a call empties."""
    if isinstance(node, ast.Assign) and _is_empty(node.value):
        yield from (target for target in map(beneath, node.targets) if _is_gradient(target))
    elif isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Mult) and _is_empty(node.value):
        target = beneath(node.target)
        if _is_gradient(target):
            yield target
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _EMPTYING:
        target = beneath(node.func.value)
        if _is_gradient(target):
            yield target


def _changed_in_place(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the gradients that a statement changes by what they were, and of which it hands nothing on."""
    if isinstance(node, ast.AugAssign):
        yield beneath(node.target)
    elif isinstance(node, ast.Assign):
        targets = {ast.unparse(target) for target in node.targets}
        yield from (each for each in ast.walk(node.value) if _is_gradient(each) and ast.unparse(each) in targets)
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        called = node.value.func
        if isinstance(called, ast.Attribute) and called.attr.endswith("_"):
            yield beneath(called.value)


def _is_empty(value: ast.expr) -> bool:
    if isinstance(value, ast.Call):
        return last_name(value.func) in _EMPTY
    return isinstance(value, ast.Constant) and value.value in (None, 0, 0.0)


def beneath(node: ast.AST) -> ast.AST:
    """Return what ``.data``, ``.detach()`` and an index are taken of."""
    while True:
        if isinstance(node, ast.Subscript) or (isinstance(node, ast.Attribute) and node.attr in _PASSING):
            node = node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _PASSING:
            node = node.func.value
        else:
            return node


def _is_gradient(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "grad"
