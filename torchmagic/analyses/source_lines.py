"""This file finds lines in source code: where a name is assigned, where a function is called."""

import ast

from torchmagic.analyses.syntax import function_around, last_name, tree_of

_OPERATORS = {"/": ast.Div, "**": ast.Pow}


def lines_calling(source: str, names: tuple[str, ...]) -> list[int]:
    """Return the 1-based lines that call one of the functions or methods, or use one of the operators ``/`` ``**``."""
    operators = tuple(_OPERATORS[name] for name in names if name in _OPERATORS)
    lines = set()
    for node in ast.walk(tree_of(source)):
        calls = isinstance(node, ast.Call) and _last_name(node.func) in names
        divides = isinstance(node, ast.BinOp) and isinstance(node.op, operators)
        if isinstance(node, ast.expr) and (calls or divides):
            lines.add(node.lineno)
    return sorted(lines)


def lines_assigning(source: str, attribute: str) -> list[int]:
    """Return the 1-based lines that assign to an attribute or item of this name, as ``net.fc = …``.

    ``self.fc = …`` is left out: there a class makes the attribute, and nobody replaces it.
    """
    lines = set()
    for node in ast.walk(tree_of(source)):
        if isinstance(node, ast.Assign) and any(_assigns(target, attribute) for target in node.targets):
            lines.add(node.lineno)
    return sorted(lines)


def lines_computing_rates(source: str) -> list[int]:
    """Return the 1-based lines that compute a learning rate which ``group["lr"] = rate`` then sets, by arithmetic."""
    tree = tree_of(source)
    nodes = (node for node in ast.walk(tree) if isinstance(node, ast.Assign))
    assigned = [(function_around(tree, node.lineno), node) for node in nodes]
    setting = [(where, node) for where, node in assigned if any(_assigns(to, "lr") for to in node.targets)]
    rates = {(where, last_name(node.value)) for where, node in setting}
    return sorted(
        node.lineno
        for where, node in assigned
        if any(isinstance(to, ast.Name) and (where, to.id) in rates for to in node.targets)
        if any(isinstance(part, ast.BinOp) for part in ast.walk(node.value))
    )


def lines_writing(source: str) -> list[int]:
    """Return the 1-based lines that put values into tensors: ``copy_``, a loaded state, ``.data = …``."""
    calls = lines_calling(source, ("copy_", "load_state_dict", "_foreach_copy_", "vector_to_parameters"))
    return sorted({*calls, *lines_assigning(source, "data")})


def lines_freezing(source: str) -> list[int]:
    """Return the 1-based lines that say which parameters require a gradient, other than ``requires_grad_(True)``."""
    lines = set()
    for node in ast.walk(tree_of(source)):
        given: list[ast.expr] = []
        if isinstance(node, ast.Call) and last_name(node.func) == "requires_grad_":
            given = [*node.args, *(each.value for each in node.keywords)]
        elif isinstance(node, ast.Assign) and any(_assigns(target, "requires_grad") for target in node.targets):
            given = [node.value]
        if isinstance(node, ast.Call | ast.Assign) and any(not _is_true(each) for each in given):
            lines.add(node.lineno)
    return sorted(lines)


def lines_of_hinges(source: str) -> list[int]:
    """Return the 1-based lines that rectify a difference, ``relu(x - limit)``: it may well be zero for all."""
    calls = [node for node in ast.walk(tree_of(source)) if isinstance(node, ast.Call)]
    given = [(call, call.args[0] if call.args else call.func) for call in calls if last_name(call.func) == "relu"]
    return sorted({c.lineno for c, each in given if isinstance(each, ast.BinOp) and isinstance(each.op, ast.Sub)})


def lines_giving(source: str, name: str) -> list[int]:
    """Return the 1-based lines that give a variable a value: ``model = …``, or ``self.model = …`` by its last name."""
    lines, last = set(), name.rpartition(".")[2]
    for node in ast.walk(tree_of(source)):
        if isinstance(node, ast.Assign) and any(_last_name(target) == last for target in node.targets):
            lines.add(node.lineno)
    return sorted(lines)


def with_true_division(line: str) -> str:
    """Return a line whose functions without a name divide by ``/`` where they did by ``//``; empty where none does."""
    tree = ast.parse(ast.unparse(tree_of(line)))
    divided = [
        node
        for function in ast.walk(tree)
        if isinstance(function, ast.Lambda)
        for node in ast.walk(function)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.FloorDiv)
    ]
    for node in divided:
        node.op = ast.Div()
    return ast.unparse(tree) if divided else ""


def line_at(source: str, line: int) -> str:
    """Return the text of a 1-based line, stripped; empty when there is none."""
    lines = source.splitlines()
    return lines[line - 1].strip() if 0 < line <= len(lines) else ""


def _is_true(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is True


def _assigns(target: ast.expr, attribute: str) -> bool:
    own = isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == "self"
    return _last_name(target) == attribute and not isinstance(target, ast.Name) and not own


def _last_name(node: ast.AST) -> str | None:
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        return str(node.slice.value)
    return last_name(node) or None
