"""This file finds the statements that change a tensor in place: ``x += …``, ``x[…] = …``, ``x.relu_()``."""

import ast
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from torchmagic.analyses.syntax import last_name, tree_of

# What a method that ends in an underscore changes of a tensor that autograd does not count.
_HARMLESS = frozenset({"requires_grad_", "detach_", "retain_grad_", "share_memory_", "rename_", "_"})
# Functions that change their first argument; modules whose call does are told by the caller.
_FIRST_ARGUMENT = frozenset({"clip_grad_norm_", "clip_grad_value_"})


class Change(NamedTuple):
    """A line that changes something in place.

    ``target`` is what it changes as it is written, without index and ``self.``; ``made_by`` the functions that the same
    scope assigns it from.
    """

    line: int
    target: str
    made_by: tuple[str, ...]


def changes(
    source: str, *, scopes: Sequence[tuple[int, str]] = (), inplace: frozenset[str] = frozenset()
) -> list[Change]:
    """Return the changes in place within some functions.

    Args:
        source: Text of a file.
        scopes: First line and name of the functions; ``<module>`` is what stands outside of any.
        inplace: Attributes that hold modules which change their input.
    """
    found: list[Change] = []
    for name, body in _scopes(tree_of(source), scopes):
        nodes = list(_own_nodes(body, deep=name != "<module>"))
        for node in nodes:
            line = getattr(node, "lineno", 0)
            found += [Change(line, target, _makers(nodes, target, line)) for target in _changed(node, inplace)]
    return sorted(set(found))


def _scopes(tree: ast.Module, wanted: Sequence[tuple[int, str]]) -> Iterator[tuple[str, list[ast.stmt]]]:
    names = {name for _, name in wanted}
    lines = {line for line, _ in wanted}
    if "<module>" in names:
        yield "<module>", tree.body
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name in names:
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            if first in lines or node.lineno in lines:
                yield node.name, node.body


def _own_nodes(body: list[ast.stmt], *, deep: bool) -> Iterator[ast.AST]:
    """Yield the nodes of a scope; functions and classes inside it are scopes of their own at top level."""
    waiting: list[ast.AST] = list(reversed(body))
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.ClassDef) or (not deep and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)):
            continue
        yield node
        waiting += reversed(list(ast.iter_child_nodes(node)))


def _changed(node: ast.AST, inplace: frozenset[str]) -> Iterator[str]:
    if isinstance(node, ast.AugAssign):
        yield written(node.target)
    elif isinstance(node, ast.Assign):
        for target in node.targets:
            for each in target.elts if isinstance(target, ast.Tuple) else [target]:
                if isinstance(each, ast.Subscript):
                    yield written(each)
    elif isinstance(node, ast.Call):
        yield from _changed_by_call(node, inplace)


def _changed_by_call(node: ast.Call, inplace: frozenset[str]) -> Iterator[str]:
    for keyword in node.keywords:
        if keyword.arg == "out":
            yield written(keyword.value)
        told = keyword.arg == "inplace" and isinstance(keyword.value, ast.Constant) and keyword.value.value is True
        if told and node.args:
            yield written(node.args[0])
    name = last_name(node.func)
    if name in inplace and node.args:
        yield written(node.args[0])
    method = isinstance(node.func, ast.Attribute) and name.endswith("_") and not name.endswith("__")
    if not method or name in _HARMLESS or name in _FIRST_ARGUMENT:
        return
    owner = node.func.value  # type: ignore[attr-defined] # an attribute, as was just asked
    functional = isinstance(owner, ast.Name) and owner.id in ("F", "torch", "functional", "init")
    functional = functional or written(owner) in ("nn.init", "torch.nn.init", "nn.functional", "torch.nn.functional")
    yield written(node.args[0]) if functional and node.args else written(owner)


def _makers(nodes: list[ast.AST], target: str, line: int) -> tuple[str, ...]:
    """Return the functions and operators from which a name is assigned before a line, the latest first."""
    above = (node for node in nodes if isinstance(node, ast.Assign) and node.lineno <= line)
    found = [(node.lineno, _maker(node.value)) for node in above if any(_binds(each, target) for each in node.targets)]
    return tuple(maker for _, maker in sorted(found, reverse=True) if maker)


def _maker(value: ast.expr) -> str:
    if isinstance(value, ast.Call):
        return last_name(value.func)
    return type(value.op).__name__ if isinstance(value, ast.BinOp | ast.UnaryOp) else ""


def _binds(target: ast.expr, name: str) -> bool:
    elements = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
    return any(written(each) == name for each in elements if not isinstance(each, ast.Subscript))


def written(node: ast.expr) -> str:
    """Return what is changed as it is written, without its index: ``x`` for ``x[0]``, ``h`` for ``self.h``."""
    while isinstance(node, ast.Subscript | ast.Starred):
        node = node.value
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return written(node.func.value)  # a view of it, as x.view(-1).add_(1)
    return ast.unparse(node).removeprefix("self.")
