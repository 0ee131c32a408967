"""This file is the loop around a line of code, and the function that runs it pass by pass."""

import ast
import copy
import dataclasses
import linecache
from collections.abc import Iterator, Sequence
from types import CodeType, FunctionType
from typing import Any

from torchmagic.analyses.syntax import parsed

_FUNCTION, ITEMS = "_torchmagic_loop", "_torchmagic_items"
_SCOPES = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef
_LOOPS = ast.For | ast.While
_LEAVING = ast.Yield | ast.YieldFrom | ast.Await | ast.AsyncFor | ast.AsyncWith
_TOP = "<module>"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Loop:
    """A loop, one pass of which is a step.

    Args:
        node: The loop.
        file: The name of the file that it stands in.
        function: The function that it stands in; empty at the top level.
        is_global: Names that the function declares as global.
    """

    node: ast.For | ast.While
    file: str
    function: str = ""
    is_global: frozenset[str] = frozenset()

    @property
    def line(self) -> int:
        """The line that it begins on."""
        return self.node.lineno

    @property
    def can_run(self) -> bool:
        """Whether its passes can be run one by one: it neither awaits nor yields."""
        return not any(isinstance(each, _LEAVING) for each in _own_nodes(self.node))


def loop_around(code: CodeType, line: int, tree: ast.Module | None) -> Loop | None:
    """Return the innermost loop of a function, or of a cell, in whose body a line is.

    Args:
        code: Of the function or the cell.
        line: From 1.
        tree: Of the file; None to read it.
    """
    tree = tree or _read(code.co_filename)
    scope: ast.AST | None = tree
    loop: ast.For | ast.While | None = None
    node: ast.AST | None = tree
    while node is not None:
        node = next((each for each in ast.iter_child_nodes(node) if _covers(each, line)), None)
        if isinstance(node, _SCOPES):
            scope, loop = node, None
        elif isinstance(node, _LOOPS) and node.body[0].lineno <= line <= (node.body[-1].end_lineno or 0):
            loop = node
    name = getattr(scope, "name", _TOP)
    if loop is None or name != code.co_name:
        return None
    declared = {name for each in ast.walk(scope or tree) if isinstance(each, ast.Global) for name in each.names}
    return Loop(node=loop, file=code.co_filename, function="" if name == _TOP else name, is_global=frozenset(declared))


def loop_of(statements: Sequence[ast.stmt], file: str) -> Loop:
    """Return a loop without end whose pass is these statements of a cell."""
    node = parsed(f"for _ in {ITEMS}: pass").body[0]
    assert isinstance(node, ast.For)  # noqa: S101 - it was written so
    node.target = ast.Name(id="_torchmagic_pass", ctx=ast.Store())
    node.body = list(statements)
    ast.copy_location(node, statements[0])
    return Loop(node=ast.fix_missing_locations(node), file=file)


def pass_by_pass(loop: Loop, names: dict[str, Any], local: Sequence[str]) -> FunctionType:
    """Return a generator function that does one pass each time it is asked on, after the first time.

    It takes what the loop runs over, and the local names by name. At the top level all names are those of ``names``.

    Args:
        loop: The loop.
        names: The namespace that it runs in.
        local: Names of the function that it stands in.
    """
    tree = _function_of(loop, local)
    if not loop.function:
        bound = _bound(compile(tree, loop.file, "exec"))
        if bound:
            tree.body[0].body.insert(0, ast.Global(names=bound))  # type: ignore[attr-defined] # it is a function
            ast.fix_missing_locations(tree)
    made: dict[str, Any] = {}
    exec(compile(tree, loop.file, "exec"), names, made)  # noqa: S102 - the user's own loop
    function: FunctionType = made[_FUNCTION]
    return function


def _function_of(loop: Loop, local: Sequence[str]) -> ast.Module:
    tree = parsed(f"def {_FUNCTION}({ITEMS}): yield")
    function = tree.body[0]
    assert isinstance(function, ast.FunctionDef)  # noqa: S101 - it was written so
    node = _Plain().visit(copy.deepcopy(loop.node))
    # First of all it stops, so that what a pass is does not depend on how it ends.
    node.body = [function.body[0], *_without_nonlocal(node.body)]
    node.orelse = []
    if isinstance(node, ast.For):
        node.iter = ast.Name(id=ITEMS, ctx=ast.Load())
    function.args.args += [ast.arg(arg=name) for name in local if name not in loop.is_global]
    declared: list[ast.stmt] = [ast.Global(names=sorted(loop.is_global))] if loop.is_global and loop.function else []
    function.body = [*declared, node]
    return ast.fix_missing_locations(tree)


class _Plain(ast.NodeTransformer):
    """Turns annotated assignments into plain ones: what is annotated cannot be global."""

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        if node.value is None or not isinstance(node.target, ast.Name):
            return ast.copy_location(ast.Pass(), node) if node.value is None else node
        return ast.copy_location(ast.Assign(targets=[node.target], value=node.value), node)


def _without_nonlocal(body: Sequence[ast.stmt]) -> list[ast.stmt]:
    return [each for each in body if not isinstance(each, ast.Nonlocal | ast.Global)] or [ast.Pass()]


def _bound(module: CodeType) -> list[str]:
    code = next(each for each in module.co_consts if isinstance(each, CodeType) and each.co_name == _FUNCTION)
    return sorted({*code.co_varnames, *code.co_cellvars} - {ITEMS})


def _read(file: str) -> ast.Module:
    try:
        return parsed("".join(linecache.getlines(file)))
    except SyntaxError:
        return ast.Module(body=[], type_ignores=[])


def _covers(node: ast.AST, line: int) -> bool:
    begin, end = getattr(node, "lineno", None), getattr(node, "end_lineno", None)
    return begin is not None and end is not None and begin <= line <= end


def _own_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what belongs to a node and to no function within it."""
    for child in ast.iter_child_nodes(node):
        yield child
        if not isinstance(child, _SCOPES):
            yield from _own_nodes(child)
