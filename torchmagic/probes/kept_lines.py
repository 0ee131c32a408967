"""This file is the line that keeps graphs: beside the backward, or in a class of the user's that stands elsewhere."""

import linecache
from collections.abc import Collection, Iterator, Mapping, Sequence
from types import CodeType, FunctionType
from typing import Any

from torchmagic.analyses.stored_lines import line_that_stores
from torchmagic.probes.sites import Site, is_users_file, place_of, source_of
from torchmagic.records.place import Place


def place_that_keeps(
    backward: Site, losses: Collection[str], holders: Sequence[str], namespace: Mapping[str, Any]
) -> Place | None:
    """Return the line whose text keeps the graph of each iteration; that of the backward where none does.

    Args:
        backward: The line that goes backward.
        losses: Names on which it does.
        holders: Variables that were found to hold graphs, such as ``losses`` or ``meter.value``.
        namespace: The user's names.
    """
    file = backward.code.co_filename
    line = line_that_stores(source_of(file), losses, holders, backward.line)
    if line is None or not any(each in linecache.getline(file, line) for each in holders):
        for holder in holders:
            for code in _methods(namespace.get(holder.partition(".")[0])):
                if code.co_filename != file and (found := _kept_in(code, holder)) is not None:
                    return place_of(found)
    return place_of(Site(backward.code, line or backward.line))


def _methods(owner: object) -> Iterator[CodeType]:
    """Yield the code of the methods of a user's object, and of functions in them, such as hooks that one makes.

    What a constructor is given comes once.
    """
    for kind in type(owner).__mro__:
        for each in vars(kind).values():
            if isinstance(each, FunctionType) and is_users_file(each.__code__.co_filename):
                if each.__name__ != "__init__":
                    yield each.__code__
                yield from (part for part in each.__code__.co_consts if isinstance(part, CodeType))


def _kept_in(code: CodeType, holder: str) -> Site | None:
    """Return the line of a method, or of a function in one, that puts what it is given into an attribute."""
    given = set(code.co_varnames[: code.co_argcount]) - {"self"}
    line = line_that_stores(source_of(code.co_filename), given, [holder], 0)
    if line is None or line not in {each for _, _, each in code.co_lines()}:
        return None
    attribute = f".{holder.rpartition('.')[2]}"
    return Site(code, line) if attribute in linecache.getline(code.co_filename, line) else None
