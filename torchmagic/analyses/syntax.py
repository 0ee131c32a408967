"""This file reads source code as a tree, cells of IPython too."""

import ast
import re
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from typing import TypeVar

T = TypeVar("T")
# How often a source is parsed that two threads parse at once.
MOST_TRIES = 20
_ONLY_IPYTHON = ("%", "!", "?")
# What a magic or a command of the system gives, as in ``files = !ls``.
_GIVEN = re.compile(r"[\w\s,.]+=\s*[%!]")


@lru_cache(maxsize=32)
def tree_of(source: str) -> ast.Module:
    """Return the syntax tree of a source, whose line numbers are those of the text; an empty one where it has none.

    Lines that only IPython understands count as ``pass``.
    """
    for text in (source, "\n".join(_python_only(source))):
        try:
            return parsed(text)
        except (SyntaxError, ValueError):
            continue
    return ast.Module(body=[], type_ignores=[])


def parsed(source: str | bytes) -> ast.Module:
    """Return the syntax tree of Python source.

    Raises:
        SyntaxError: If it is none.
        ValueError: If there are null bytes in it.
    """
    return steadily(lambda: ast.parse(source))


def parsed_expression(source: str | bytes) -> ast.expr:
    """Return the syntax tree of a single expression; it raises as ``parsed`` does."""
    return steadily(lambda: ast.parse(source, mode="eval")).body


def steadily(parse: Callable[[], T]) -> T:
    """Return what parsing gives, once no other thread parses in the middle of it.

    Python 3.11 counts the depth of trees for all threads together, and fails with a ``SystemError`` where two of them
    make one at the same time (python/cpython#106905), though nothing is wrong with the source.
    """
    for _ in range(MOST_TRIES - 1):
        with suppress(SystemError):
            return parse()
    return parse()


def names_in(source: str) -> list[str]:
    """Return the names that a source reads or gives a value, each once."""
    return list(dict.fromkeys(node.id for node in ast.walk(tree_of(source)) if isinstance(node, ast.Name)))


def last_name(node: ast.AST) -> str:
    """Return a name or an attribute as its last part, ``sigmoid`` for ``torch.sigmoid``; empty for anything else."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def holds(node: ast.stmt | ast.expr, line: int) -> bool:
    """Whether a line is one of those that a statement or an expression fills."""
    return node.lineno <= line <= (node.end_lineno or node.lineno)


def function_around(tree: ast.AST, line: int) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    """Return the innermost function that holds a line."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    return max((each for each in functions if holds(each, line)), key=lambda node: node.lineno, default=None)


def if_around(source: str, line: int) -> int | None:
    """Return the 1-based line of the innermost ``if`` or ``elif`` whose body holds a line; None where none does."""
    found = [
        node.lineno
        for node in ast.walk(tree_of(source))
        if isinstance(node, ast.If) and any(holds(each, line) for each in node.body)
    ]
    return max(found, default=None)


def _python_only(source: str) -> list[str]:
    lines = []
    for line in source.splitlines():
        bare = line.lstrip()
        foreign = bare.startswith(_ONLY_IPYTHON) or bare.endswith("?") or _GIVEN.match(bare)
        lines.append(line[: len(line) - len(bare)] + "pass" if foreign else line)
    return lines
