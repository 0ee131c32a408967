"""This file finds lines that bound gradients by hand."""

import ast
from collections.abc import Iterator

from torchmagic.analyses.gradient_lines import is_gradient_beneath, scaled_gradients
from torchmagic.analyses.syntax import last_name, tree_of

_BOUNDING = frozenset({"clamp", "clip", "clamp_max", "clamp_min"})
_IN_PLACE = frozenset(f"{name}_" for name in _BOUNDING)
# What gives a factor of at most one.
_LEAST = _BOUNDING | {"min", "minimum"}


def clips_between(source: str, first: int, last: int) -> list[int]:
    """Return the lines after one, and up to another, that bound gradients by hand."""
    nodes = ast.walk(tree_of(source))
    return sorted({each.lineno for node in nodes for each in _clips(node) if first < each.lineno <= last})


def called_between(source: str, first: int, last: int) -> frozenset[str]:
    """Return the last names of what code calls after one line, and up to another."""
    calls = (node for node in ast.walk(tree_of(source)) if isinstance(node, ast.Call) and first < node.lineno <= last)
    return frozenset(last_name(each.func) for each in calls)


def clips_in(source: str, function: str) -> list[int]:
    """Return the lines of a function that bound gradients by hand."""
    every = (node for node in ast.walk(tree_of(source)) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)))
    own = [each for each in every if each.name == function]
    return [line for each in own for line in clips_between(source, each.lineno - 1, each.end_lineno or each.lineno)]


def _clips(node: ast.AST) -> Iterator[ast.stmt | ast.expr]:
    """Yield the statements and calls that bound a gradient."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _IN_PLACE:
        if is_gradient_beneath(node.func.value) or any(is_gradient_beneath(each) for each in node.args[:1]):
            yield node
    elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and last_name(node.value.func) in _BOUNDING:
        if any(is_gradient_beneath(target) for target in node.targets):
            yield node
    elif isinstance(node, ast.If) and any(isinstance(each, ast.Compare) for each in ast.walk(node.test)):
        for part in (each for statement in node.body for each in ast.walk(statement)):
            if isinstance(part, (ast.stmt, ast.expr)) and scaled_gradients(part):
                yield part
    elif isinstance(node, (ast.stmt, ast.expr)) and scaled_gradients(node):
        calls = (each for each in ast.walk(node) if isinstance(each, ast.Call))
        if any(last_name(each.func) in _LEAST for each in calls):
            yield node
