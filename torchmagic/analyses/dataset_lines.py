"""This file finds the lines by which a dataset gives one sample always, or its samples only once."""

import ast
from collections.abc import Iterator

from torchmagic.analyses.syntax import last_name, tree_of

# What goes through an iterator that somebody else keeps.
_GOING = frozenset({"iter", "next", "map", "filter", "enumerate", "zip", "islice", "chain", "batched", "cycle"})


def lines_keeping_an_iterator(source: str) -> list[int]:
    """Return the 1-based lines that make what ``__iter__`` of the same class goes through: there for one pass only."""
    found = []
    for methods in _classes(source):
        going = methods.get("__iter__") or methods.get("__next__")
        makes = methods.get("__init__")
        if going is None or makes is None:
            continue
        gone_through = set(_gone_through(going))
        found += [
            node.lineno
            for node in ast.walk(makes)
            if isinstance(node, ast.Assign) and isinstance(node.value, (ast.Call, ast.GeneratorExp))
            if any(_own(target) in gone_through for target in node.targets)
        ]
    return found


def lines_keeping_a_sample(source: str) -> list[int]:
    """Return the 1-based lines of ``__getitem__`` that keep a sample for good, whatever index is asked for next."""
    found = []
    for methods in _classes(source):
        getting = methods.get("__getitem__")
        if getting is None or len(getting.args.args) < 2:  # noqa: PLR2004 - itself, and the index
            continue
        index = getting.args.args[1].arg
        for node in ast.walk(getting):
            if not isinstance(node, ast.If) or index in _names(node.test):
                continue
            asked = ({_own(each) for each in ast.walk(node.test)} | _constants(node.test)) - {""}
            found += [
                each.lineno
                for each in node.body
                if isinstance(each, ast.Assign) and index in _names(each.value)
                if asked & {_own(target) for target in each.targets}
            ]
    return found


def _classes(source: str) -> Iterator[dict[str, ast.FunctionDef]]:
    for node in ast.walk(tree_of(source)):
        if isinstance(node, ast.ClassDef):
            yield {each.name: each for each in node.body if isinstance(each, ast.FunctionDef)}


def _gone_through(function: ast.FunctionDef) -> Iterator[str]:
    """Yield the attributes of ``self`` that a function goes through, hands on or returns."""
    for node in ast.walk(function):
        through: list[ast.expr] = []
        if isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
            through = [node.iter]
        elif isinstance(node, (ast.YieldFrom, ast.Return)) and node.value is not None:
            through = [node.value]
        elif isinstance(node, ast.Call) and last_name(node.func) in _GOING:
            through = node.args
        for each in through:
            yield from (own for part in ast.walk(each) if (own := _own(part)))


def _own(node: ast.AST) -> str:
    """Return the attribute that an expression is of ``self``; empty for any other."""
    return node.attr if isinstance(node, ast.Attribute) and last_name(node.value) == "self" else ""


def _names(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


def _constants(node: ast.AST) -> set[str]:
    """Return the texts in an expression, such as the name in ``hasattr(self, "_sample")``."""
    return {each.value for each in ast.walk(node) if isinstance(each, ast.Constant) and isinstance(each.value, str)}
