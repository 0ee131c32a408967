"""This file finds what a loop carries from one turn to the next, and where a name is made, in source code."""

import ast
from collections.abc import Iterator
from typing import NamedTuple

from torchmagic.analyses.syntax import function_around, holds, tree_of

# Methods that put another value into a list.
_ADDING = frozenset({"append", "extend", "insert", "appendleft"})


class Making(NamedTuple):
    """A line that assigns a name, and whether it lies in the innermost loops around a given line."""

    line: int
    in_loop: bool


def carried(source: str, line: int) -> dict[str, int]:
    """Return the names that the loops around a line read before they assign them, each with the line that assigns it.

    Attributes count as they are written, such as ``self.hidden``. The outermost loops come first.
    """
    found: dict[str, int] = {}
    for loop in loops_around(source, line):
        assigned: dict[str, int] = {}
        read_first: set[str] = set()
        for statement in _statements(loop.body):
            for name in _read(statement):
                if name not in assigned:
                    read_first.add(name)
            for name in _assigned(statement):
                assigned[name] = statement.lineno
        found.update({name: number for name, number in assigned.items() if name in read_first})
    return found


def carried_state(source: str, line: int) -> str:
    """Return the name that a call in the loops around a line takes and gives anew, as ``h`` in ``y, h = rnn(x, h)``.

    One that is detached somewhere carries no graph.
    """
    nodes = [node for node in ast.walk(tree_of(source)) if isinstance(node, ast.Attribute)]
    detached = {ast.unparse(node.value) for node in nodes if node.attr in ("detach", "detach_", "data")}
    names = {name: number for name, number in carried(source, line).items() if name not in detached}
    for node in ast.walk(tree_of(source)):
        if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Call):
            continue
        given = [*node.value.args, *(each.value for each in node.value.keywords)]
        taken = {ast.unparse(each) for each in given if isinstance(each, ast.Name | ast.Attribute)}
        both = sorted(name for name in _assigned(node) & taken if names.get(name) == node.lineno)
        if both:
            return both[0]
    return ""


def makings(source: str, name: str, line: int) -> list[Making]:
    """Return the lines that assign a name, and whether each lies in the innermost loop around ``line``."""
    loops = loops_around(source, line)
    inner = loops[-1] if loops else None
    found = []
    for node in ast.walk(tree_of(source)):
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign) and name in _assigned(node):
            within = inner is not None and holds(inner, node.lineno)
            found.append(Making(node.lineno, within))
    return sorted(found)


def growth(source: str, name: str, line: int) -> int:
    """Return the line, in the loops around another, that adds to a list of this name; 0 where none does."""
    for loop in loops_around(source, line):
        for node in ast.walk(loop):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
                continue
            if node.func.attr in _ADDING and ast.unparse(node.func.value) == name:
                return node.lineno
    return 0


def reads_before(source: str, name: str, line: int) -> bool:
    """Whether the function around a line that assigns a name reads that name there or above."""
    inner = function_around(tree_of(source), line)
    return inner is not None and any(
        isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load) and ast.unparse(node) == name
        for node in ast.walk(inner)
        if getattr(node, "lineno", line + 1) <= line
    )


def loops_around(source: str, line: int) -> list[ast.For | ast.While]:
    """Return the loops whose body holds a line, the outermost first."""
    loops = [node for node in ast.walk(tree_of(source)) if isinstance(node, ast.For | ast.While)]
    around = [loop for loop in loops if loop.body[0].lineno <= line <= (loop.body[-1].end_lineno or 0)]
    return sorted(around, key=lambda loop: loop.lineno)


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield simple statements in the order of the text; of those with a body, what they test first."""
    for statement in body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        inner = [each for name in ("body", "orelse", "finalbody") for each in getattr(statement, name, [])]
        if not inner:
            yield statement
            continue
        for part in (getattr(statement, name, None) for name in ("test", "iter")):
            if isinstance(part, ast.expr):
                yield ast.copy_location(ast.Expr(part), part)
        yield from _statements(inner)


def _read(statement: ast.stmt) -> set[str]:
    found = set()
    for node in ast.walk(statement):
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
            found.add(ast.unparse(node))
    if isinstance(statement, ast.AugAssign):
        found.add(ast.unparse(statement.target))
    return found


def _assigned(statement: ast.stmt) -> set[str]:
    if isinstance(statement, ast.Assign):
        targets = list(statement.targets)
    elif isinstance(statement, ast.AnnAssign | ast.AugAssign):
        targets = [statement.target]
    else:
        return set()
    found = set()
    while targets:
        target = targets.pop()
        if isinstance(target, ast.Tuple | ast.List):
            targets += target.elts
        elif isinstance(target, ast.Starred):
            targets.append(target.value)
        elif isinstance(target, ast.Name | ast.Attribute):
            found.add(ast.unparse(target))
    return found
