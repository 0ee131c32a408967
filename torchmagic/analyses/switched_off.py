"""This file finds what switches gradients off around a line of source: a block, a decorator, or a call above."""

import ast
from typing import NamedTuple

from torchmagic.analyses.syntax import function_around, holds, last_name, tree_of

_BLOCKS = frozenset({"no_grad", "inference_mode"})


class Switch(NamedTuple):
    """A line that switches gradients off, and the call as it is written."""

    line: int
    how: str


def switches(source: str, line: int, *, function: str = "") -> Switch | None:
    """Return what switches gradients off where a line runs.

    Args:
        source: Text of the file.
        line: The line; with ``function``, that function's first one.
        function: Name of a function: then its decorators and a block around all that it returns are looked for.
    """
    tree = tree_of(source)
    if function:
        return next((found for node in _functions(tree, function, line) if (found := _of_function(node))), None)
    around = [node for node in ast.walk(tree) if isinstance(node, ast.stmt) and holds(node, line)]
    for node in sorted(around, key=lambda each: -each.lineno):
        if isinstance(node, ast.With | ast.AsyncWith):
            for item in node.items:
                if _is_off(item.context_expr):
                    return Switch(node.lineno, ast.unparse(item.context_expr))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found = _decorator(node)
            if found is not None:
                return found
    return _call_above(tree, line)


def last_switch(source: str) -> Switch | None:
    """Return the last call in a source that switches gradients off for all that follows."""
    tree = tree_of(source)
    return _call_above(tree, len(source.splitlines()) + 1)


def left_open(source: str, line: int) -> Switch | None:
    """Return the block around a ``yield`` of a generator that a loop around a line goes through.

    While the loop's body runs, the generator waits inside of its block, and gradients are off there too.
    """
    tree = tree_of(source)
    loops = [node for node in ast.walk(tree) if isinstance(node, ast.For) and holds(node, line)]
    called = {last_name(part.func) for loop in loops for part in _given(tree, loop) if isinstance(part, ast.Call)}
    makers = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name in called]
    for block in (node for maker in makers for node in ast.walk(maker) if isinstance(node, ast.With)):
        off = next((item.context_expr for item in block.items if _is_off(item.context_expr)), None)
        if off is not None and any(isinstance(part, ast.Yield) for part in ast.walk(block)):
            return Switch(block.lineno, f"{ast.unparse(off)} around a yield")
    return None


def _given(tree: ast.Module, loop: ast.For) -> list[ast.AST]:
    """Return what a loop goes through: as it stands there, was assigned to its name, or was given to its function."""
    found = list(ast.walk(loop.iter))
    names = {part.id for part in found if isinstance(part, ast.Name)}
    around = function_around(tree, loop.lineno)
    takes = around is not None and any(each.arg in names for each in (*around.args.args, *around.args.kwonlyargs))
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and any(
            isinstance(each, ast.Name) and each.id in names for each in node.targets
        ):
            found += ast.walk(node.value)
        elif takes and around is not None and isinstance(node, ast.Call) and last_name(node.func) == around.name:
            found += (part for each in (*node.args, *node.keywords) for part in ast.walk(each))
    return found


def _functions(tree: ast.Module, name: str, line: int) -> list[ast.FunctionDef]:
    found = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == name]
    return [node for node in found if line in (node.lineno, *(each.lineno for each in node.decorator_list[:1]))]


def _of_function(node: ast.FunctionDef) -> Switch | None:
    """Return a function's decorator, or the block in which all its returns stand."""
    found = _decorator(node)
    if found is not None:
        return found
    body = node.body[-1] if node.body else None
    if isinstance(body, ast.With) and all(isinstance(each, ast.Expr) for each in node.body[:-1]):
        for item in body.items:
            if _is_off(item.context_expr):
                return Switch(body.lineno, ast.unparse(item.context_expr))
    return None


def _decorator(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Switch | None:
    return next((Switch(each.lineno, "@" + ast.unparse(each)) for each in node.decorator_list if _is_off(each)), None)


def _call_above(tree: ast.Module, line: int) -> Switch | None:
    """Return the last call above a line that switches gradients off for all that follows."""
    calls = [node.value for node in ast.walk(tree) if isinstance(node, ast.Expr) and node.lineno < line]
    off = [each for each in calls if _is_off(each) and "set_grad_enabled" in ast.unparse(each)]
    last = max(off, key=lambda each: each.lineno, default=None)
    return Switch(last.lineno, ast.unparse(last)) if last is not None else None


def _is_off(node: ast.expr) -> bool:
    """Whether an expression switches gradients off: ``torch.no_grad()``, ``set_grad_enabled(False)``."""
    name = last_name(node.func if isinstance(node, ast.Call) else node)
    if name in _BLOCKS:
        return True
    if name != "set_grad_enabled" or not isinstance(node, ast.Call):
        return False
    given = [*node.args, *(keyword.value for keyword in node.keywords)]
    return not (given and isinstance(given[0], ast.Constant) and given[0].value is True)
