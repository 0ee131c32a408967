"""This file is the top level of a cell with ranges: rewritten before it is compiled, as it runs but once.

Its ranges are found by one name among Python's builtins, which is there from ``publish`` to ``forget``.
"""

import ast
import builtins
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from copy import deepcopy
from itertools import count

from torchmagic.profiling.instrument import DEPTHS, placed, range_flow, suspends
from torchmagic.session.ignored_warnings import ignored_warnings

_FLOWS = count(1)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


class CellFlow:
    """The top level of one cell.

    Args:
        number: Gives the number of a line's range.
        ranges: The ranges by their numbers; may still change.
        learn: Told the cell's file before its first line, and after each definition and import.
    """

    def __init__(
        self,
        number: Callable[[int], int],
        *,
        ranges: list[AbstractContextManager[object]],
        learn: Callable[[str], None],
    ) -> None:
        self.ranges = ranges
        self._number = number
        self._learn = learn
        self._name = f"__torchmagic_lines_{next(_FLOWS)}__"

    def rewritten(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """Return the statements of the cell with ranges; what IPython shows of the last one stays as it is."""
        if not body:
            return body
        *others, last = body
        ranged: list[ast.stmt] = [_statement(self._call("learn"), body[0])]
        for statement in others:
            ranged += self._compilable(statement)
        if isinstance(last, ast.Expr):
            return [*ranged, self._timed(last)]
        # Nothing runs after a definition that is the last.
        return [*ranged, *([last] if isinstance(last, _DEFINITIONS) else self._compilable(last))]

    def publish(self) -> None:
        """Let the cell find its ranges."""
        builtins.__dict__[self._name] = self

    def forget(self) -> None:
        """Take the name back, once the cell has ended; safe to call twice."""
        builtins.__dict__.pop(self._name, None)

    def learn(self) -> None:
        """Tell which file the calling cell is, and that there may be new functions: what the cell calls."""
        self._learn(sys._getframe(1).f_code.co_filename)

    def enter(self, index: int) -> None:
        """Begin the range of the last expression: what the cell calls."""
        self.ranges[index].__enter__()

    def leave(self, index: int) -> None:
        """End it; an expression that raises leaves it to the end of the profile."""
        self.ranges[index].__exit__(None, None, None)

    def _compilable(self, statement: ast.stmt) -> list[ast.stmt]:
        """Return one statement with ranges; as it is where CPython could not compile it with any."""
        for deepest in DEPTHS:
            ranged = range_flow([deepcopy(statement)], self._mark, after=lambda: self._call("learn"), deepest=deepest)
            if _compiles(ranged):
                return ranged
        return [statement]

    def _timed(self, last: ast.Expr) -> ast.Expr:
        """Return the last expression, timed without being put into another statement."""
        if isinstance(last.value, ast.Constant) or suspends(last):
            return last
        number = self._number(last.lineno)
        enter, leave = (placed(self._call(name, ast.Constant(number)), last) for name in ("enter", "leave"))
        parts = ast.copy_location(ast.Tuple([enter, last.value, leave], ast.Load()), last)
        value = ast.Subscript(parts, placed(ast.Constant(1), last), ast.Load())
        return ast.copy_location(ast.Expr(ast.copy_location(value, last)), last)

    def _mark(self, line: int, _function: str) -> ast.expr:
        return ast.Subscript(self._attribute("ranges"), ast.Constant(self._number(line)), ast.Load())

    def _call(self, name: str, *arguments: ast.expr) -> ast.expr:
        return ast.Call(self._attribute(name), list(arguments), [])

    def _attribute(self, name: str) -> ast.expr:
        return ast.Attribute(ast.Name(self._name, ast.Load()), name, ast.Load())


def _statement(value: ast.expr, like: ast.stmt) -> ast.stmt:
    return ast.copy_location(ast.Expr(placed(value, like)), like)


def _compiles(body: list[ast.stmt]) -> bool:
    try:
        with ignored_warnings():  # the shell compiles it again, and says it then
            compile(ast.Module(body, []), "<cell>", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError):
        return False
    return True
