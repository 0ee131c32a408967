"""This file is the rewriting of source: statements get a range around them, and do what they did before.

Positions are copied, so that line numbers, tracebacks and their markers stay those of the source.
"""

import ast
from collections.abc import Callable, Iterator
from typing import TypeVar

# CPython compiles at most so many blocks, such as loops and ``with``, within each other.
MOST_BLOCKS = 20
# Ranges within each other that are tried, one after the other, until the result can be compiled.
DEPTHS = (MOST_BLOCKS, 8, 4, 2, 1)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_IMPORTS = (ast.Import, ast.ImportFrom)
# What costs nothing, or has to stand where it stands; ``raise`` and ``return`` leave what they leave either way.
_LEFT_ALONE = (ast.Pass, ast.Break, ast.Continue, ast.Global, ast.Nonlocal, ast.Raise)
_SUSPENDING = (ast.Yield, ast.YieldFrom, ast.Await, ast.AsyncFor, ast.AsyncWith)
_PLAIN = (ast.Constant, ast.Name)
# Makes the expression of a statement's range, from the statement's line and the name of the function around it.
Mark = Callable[[int, str], ast.expr]
_Node = TypeVar("_Node", bound=ast.expr)


def range_functions(tree: ast.Module, mark: Mark, *, deepest: int = MOST_BLOCKS) -> None:
    """Put ranges around the statements of all functions of a tree, in place; what is outside of functions stays.

    A statement within which a generator or a coroutine may be suspended gets none, those inside it do.

    Args:
        tree: The tree.
        mark: Makes the range of a line; called once a statement, in the order of the source.
        deepest: Most ranges within each other in one function.
    """
    for definition in _outermost_functions(tree):
        _range_function(definition, mark, deepest)


def range_flow(
    body: list[ast.stmt], mark: Mark, *, after: Callable[[], ast.expr] | None, deepest: int = MOST_BLOCKS
) -> list[ast.stmt]:
    """Return statements of the top level with ranges around them; functions and classes stay as they are.

    Args:
        body: The statements; they are changed.
        mark: Makes the range of a line.
        after: Makes the call that follows each function, class and import; None for no such call.
        deepest: Most ranges within each other.
    """
    return _Flow(mark, "<module>", deepest, after=after).ranged(body, depth=0, line=0)


def suspends(node: ast.AST) -> bool:
    """Whether the function that holds a node may be suspended within it, by ``yield`` or ``await``."""
    todo = [node]
    while todo:
        each = todo.pop()
        if isinstance(each, _SUSPENDING) or (isinstance(each, ast.comprehension) and each.is_async):
            return True
        todo += _of_the_same_function(each)
    return False


class _Flow:
    """The statements of one function, or of the top level."""

    def __init__(
        self,
        mark: Mark,
        function: str,
        deepest: int,
        *,
        may_wait: bool = True,
        after: Callable[[], ast.expr] | None = None,
    ) -> None:
        self._mark, self._after = mark, after
        self._function = function
        self._deepest = deepest
        self._may_wait = may_wait

    def ranged(self, body: list[ast.stmt], *, depth: int, line: int) -> list[ast.stmt]:
        """Return statements with ranges.

        Args:
            body: The statements.
            depth: Ranges around them.
            line: Line of the innermost of these: what stands on it too needs no range of its own.
        """
        return [each for statement in body for each in self._with_range(statement, depth, line)]

    def _with_range(self, statement: ast.stmt, depth: int, line: int) -> Iterator[ast.stmt]:
        if isinstance(statement, _DEFINITIONS):
            if self._function != "<module>":
                for definition in _outermost_functions(statement):
                    _range_function(definition, self._mark, self._deepest)
            yield statement
        elif depth >= self._deepest or statement.lineno == line or _is_free(statement) or self._waits(statement):
            self._range_blocks(statement, depth, line)
            yield statement
        else:
            context = placed(self._mark(statement.lineno, self._function), statement)
            self._range_blocks(statement, depth + 1, statement.lineno)
            ranged = ast.With(items=[ast.withitem(context_expr=context)], body=[statement])
            yield ast.copy_location(ranged, statement)
        if self._after is not None and isinstance(statement, (*_DEFINITIONS, *_IMPORTS)):
            yield ast.copy_location(ast.Expr(placed(self._after(), statement)), statement)

    def _waits(self, statement: ast.stmt) -> bool:
        return self._may_wait and suspends(statement)

    def _range_blocks(self, statement: ast.stmt, depth: int, line: int) -> None:
        for holder, name in _blocks(statement):
            getattr(holder, name)[:] = self.ranged(getattr(holder, name), depth=depth, line=line)


def _range_function(definition: ast.FunctionDef | ast.AsyncFunctionDef, mark: Mark, deepest: int) -> None:
    may_wait = any(map(suspends, definition.body))
    definition.body = _Flow(mark, definition.name, deepest, may_wait=may_wait).ranged(definition.body, depth=0, line=0)


def _outermost_functions(node: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Yield the functions of a tree that are in no other function, in the order of the source."""
    todo = [node]
    while todo:
        each = todo.pop()
        if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield each
        elif not isinstance(each, ast.expr):
            todo += reversed(list(ast.iter_child_nodes(each)))


def _of_the_same_function(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the children of a node that its own function runs: of another function, defaults and decorators only."""
    if isinstance(node, ast.Lambda):
        yield from [*node.args.defaults, *(each for each in node.args.kw_defaults if each is not None)]
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        yield from [*node.decorator_list, node.args]
    else:
        yield from ast.iter_child_nodes(node)


def _blocks(statement: ast.stmt) -> Iterator[tuple[ast.AST, str]]:
    """Yield the blocks of a statement in the order of the source, as their holder and the name of its field."""
    parts = (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ()))
    blocks = ((statement, "body"), *((part, "body") for part in parts), (statement, "orelse"), (statement, "finalbody"))
    yield from ((holder, name) for holder, name in blocks if getattr(holder, name, None))


def _is_free(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Constant)
    if isinstance(statement, ast.Return):
        return statement.value is None or isinstance(statement.value, _PLAIN)
    if isinstance(statement, ast.AnnAssign):
        return statement.value is None
    if isinstance(statement, ast.ImportFrom):
        return statement.module == "__future__"
    return isinstance(statement, _LEFT_ALONE)


def placed(node: _Node, like: ast.stmt) -> _Node:
    """Return an expression of ours, placed with all its parts where a statement stands."""
    for each in ast.walk(node):
        ast.copy_location(each, like)
    return node
