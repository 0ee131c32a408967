"""This file is the loop members: the modules that the loops of a function hand to names of its own."""

import ast
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from torch import nn

ValueOf = Callable[[ast.expr, Mapping[str, Any]], Any]
LISTS = (nn.ModuleList, nn.Sequential, list, tuple)


def loop_members(body: list[ast.stmt], names: Mapping[str, Any], value_of: ValueOf) -> Iterator[tuple[str, nn.Module]]:
    """Yield the names that loops over modules give to them, with one of these.

    Loops over ``enumerate``, ``zip``, ``reversed`` and the views of a ``ModuleDict`` count as well.

    Args:
        body: The function's statements.
        names: What is known of its names.
        value_of: Tells what an expression stands for.
    """
    for statement in body:
        for part in ast.walk(statement):
            if isinstance(part, ast.For | ast.comprehension):
                yield from _bound(part.target, part.iter, names, value_of)


def _bound(
    target: ast.expr, over: ast.expr, names: Mapping[str, Any], value_of: ValueOf
) -> Iterator[tuple[str, nn.Module]]:
    """Yield what the target of a loop over something is."""
    parts = target.elts if isinstance(target, ast.Tuple | ast.List) else []
    called = _called(over)
    given = over.args if isinstance(over, ast.Call) else []
    if called == "zip" and len(parts) == len(given):
        for each, what in zip(parts, given, strict=True):
            yield from _bound(each, what, names, value_of)
    elif called == "enumerate" and len(parts) == 2 and given:  # noqa: PLR2004 - a number and a member
        yield from _bound(parts[1], given[0], names, value_of)
    elif called == "reversed" and given:
        yield from _bound(target, given[0], names, value_of)
    elif called in ("values", "items") and isinstance(over, ast.Call) and isinstance(over.func, ast.Attribute):
        held = value_of(over.func.value, names)
        name = parts[1] if called == "items" and len(parts) == 2 else target  # noqa: PLR2004 - a key and a value
        if isinstance(held, nn.ModuleDict) and len(held) and isinstance(name, ast.Name):
            yield name.id, next(iter(held.values()))
    elif isinstance(target, ast.Name):
        held = value_of(over, names)
        if isinstance(held, LISTS) and len(held) and all(isinstance(each, nn.Module) for each in held):
            yield target.id, held[0]


def _called(over: ast.expr) -> str:
    """Return the name of the function whose result a loop runs over."""
    if not isinstance(over, ast.Call):
        return ""
    return over.func.id if isinstance(over.func, ast.Name) else getattr(over.func, "attr", "")
