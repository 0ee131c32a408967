"""This file finds, in the functions of the user's that make a model's input, the line that seeds a random generator."""

import ast
from collections.abc import Mapping
from types import FunctionType
from typing import Any

from torchmagic.analyses.data_lines import fetched, seeds
from torchmagic.probes.origin_purity import body_of, function_of, names_inside, value_of
from torchmagic.probes.sites import Site, is_users_file, source_of

# Functions of the user's own that call each other are followed so far.
DEEPEST = 3


def reseeding(site: Site | None, model: str, namespace: Mapping[str, Any]) -> Site | None:
    """Return the line that seeds each time that a model's input is made by a function of the user's own.

    Args:
        site: The line that calls the model.
        model: Its name.
        namespace: The user's names.
    """
    if site is None:
        return None
    calls = (
        call
        for each in fetched(source_of(site.code.co_filename), site.line, model)
        for call in _functions(each, namespace)
    )
    return next((found for function in calls if (found := _seeding(function, depth=1)) is not None), None)


def _functions(node: ast.AST, names: Mapping[str, Any]) -> list[FunctionType]:
    """Return the functions of the user's own that code calls."""
    called = [function_of(value_of(part.func, names)) for part in ast.walk(node) if isinstance(part, ast.Call)]
    return [each for each in called if each is not None and is_users_file(each.__code__.co_filename)]


def _seeding(function: FunctionType, *, depth: int) -> Site | None:
    body = body_of(function.__code__)
    for statement in body:
        line = seeds(statement)
        if line is not None:
            return Site(function.__code__, line)
    if depth >= DEEPEST:
        return None
    inner = (each for statement in body for each in _functions(statement, names_inside(function)))
    return next((found for each in inner if (found := _seeding(each, depth=depth + 1)) is not None), None)
