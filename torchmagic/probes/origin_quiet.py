"""This file is the quiet function: a copy of a function of the user's that computes the same and does nothing else.

A training step often logs, counts or keeps what it computes. Statements that only do that are left out of the copy.
"""

import ast
import copy
from collections.abc import Iterator, Mapping
from types import FunctionType, MethodType
from typing import Any

from torchmagic.probes.changed_names import changed_names
from torchmagic.probes.getters import UNKNOWN
from torchmagic.probes.origin_purity import (
    bound_names,
    closed_over,
    definition_of,
    function_of,
    is_pure,
    names_inside,
    value_of,
)

QUIET = "__torchmagic_quiet_"
DEEPEST = 3


def quieted(statement: ast.stmt, names: dict[str, Any], *, depth: int = 0) -> ast.stmt:
    """Return a statement that calls quiet copies of functions that can be noticed; ``names`` gains the copies."""
    return _Quieter(names, depth).visit(statement)  # type: ignore[no-any-return] # a statement stays one


class _Quieter(ast.NodeTransformer):
    def __init__(self, names: dict[str, Any], depth: int) -> None:
        self._names, self._depth = names, depth

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        value = value_of(node.func, self._names)
        function = function_of(value) if value is not UNKNOWN else None
        if function is None or is_pure(node, self._names):
            return node
        copied = _copied(function, bound_names(function, value, node, self._names), self._depth)
        if copied is None:
            return node
        name = f"{QUIET}{len(self._names)}"
        self._names[name] = MethodType(copied, value.__self__) if isinstance(value, MethodType) else copied
        called = ast.copy_location(ast.Name(name, ast.Load()), node.func)
        return ast.copy_location(ast.Call(called, node.args, node.keywords), node)


def _copied(function: FunctionType, bound: Mapping[str, Any], depth: int) -> FunctionType | None:
    """Return the copy; None where the source is not known or a decorator may change what the function does."""
    definition = definition_of(function.__code__)
    if depth >= DEEPEST or not isinstance(definition, ast.FunctionDef) or definition.decorator_list:
        return None
    names = {**function.__globals__, **closed_over(function)}
    seen = {**names_inside(function), **bound}
    definition = copy.deepcopy(definition)
    definition.body = list(_computing(definition.body, seen, depth)) or [ast.Pass()]
    names.update({name: value for name, value in seen.items() if name.startswith(QUIET)})
    definition.args.defaults, definition.args.kw_defaults = [], [None for _ in definition.args.kwonlyargs]
    definition.returns = None
    if not all(is_pure(each, seen) for each in definition.body):
        return None
    module = ast.fix_missing_locations(ast.Module(body=[definition], type_ignores=[]))
    exec(compile(module, function.__code__.co_filename, "exec", dont_inherit=True), names)  # noqa: S102 - the user's own
    made = names.pop(definition.name)  # a function that its own names hold would live until the next collection
    made.__defaults__, made.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
    made.__module__ = "torchmagic"
    return made  # type: ignore[no-any-return] # what a def makes


def _computing(statements: list[ast.stmt], names: dict[str, Any], depth: int) -> Iterator[ast.stmt]:
    """Yield the statements that compute: no calls for their own sake, nothing kept in an object."""
    own: Mapping[str, Any] = names
    for each in statements:
        if isinstance(each, ast.If | ast.For | ast.While | ast.With):
            each.body = list(_computing(each.body, names, depth)) or [ast.Pass()]
        if isinstance(each, ast.If):
            each.orelse = list(_computing(each.orelse, names, depth))
        keeps = isinstance(each, ast.Assign | ast.AugAssign) and "self" in changed_names(each)
        if keeps or (isinstance(each, ast.Expr) and not is_pure(each, own)):
            continue
        if isinstance(each, ast.Expr) and "self" in changed_names(each):
            continue
        yield quieted(each, names, depth=depth + 1)
