"""This file is the changed names: whose objects code changes in place."""

import ast
from collections.abc import Iterator

# Methods that change the list, the dict or the tensor on which they are called.
GROWS = frozenset({"append", "extend", "insert", "update", "setdefault", "register_hook", "retain_grad"})


def changed_names(node: ast.AST) -> set[str]:
    """Return the names whose objects code changes in place: ``x += 1``, ``x[0] = 1``, ``x.add_(1)``."""
    return set(_changed(node))


def _changed(node: ast.AST) -> Iterator[str]:
    for part in ast.walk(node):
        if isinstance(part, ast.AugAssign):
            yield _root(part.target)
        elif isinstance(part, (ast.Attribute, ast.Subscript)) and isinstance(part.ctx, ast.Store | ast.Del):
            yield _root(part)
        elif isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute):
            method = part.func.attr
            in_place = method.endswith("_") and not method.endswith("__")
            if (in_place or method in GROWS) and _is_place(part.func.value):
                yield _root(part.func.value)


def _is_place(node: ast.expr) -> bool:
    """Whether an expression names an object, rather than computing a new one."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return isinstance(node, ast.Name)


def _root(node: ast.expr) -> str:
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else "?"
