"""This file gives torch's own functions back to programs that kept what stood in their place while a run was open."""

import gc
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from types import CellType, FunctionType
from typing import Any


def _references(values: list[Any], at: int) -> int:
    return sys.getrefcount(values[at])


# Of an object that only its list holds.
_ALONE = _references([object()], 0)


def give_back(gone: list[Any], originals: list[Any]) -> None:
    """Put each original where a program kept what stood for it.

    That is: in names, attributes, tables, lists, closures, defaults and partial functions. Only where something is kept
    are Python's objects gone through, once.

    Args:
        gone: What stood there, which nothing else of ours holds any more.
        originals: The original of each.
    """
    kept = _kept(gone, originals)
    if kept:  # most often by the names of a cell
        _in_names(vars(sys.modules["__main__"]), kept)
        kept = _kept(gone, originals)
    if not kept:
        return
    tuples = []
    for holder in gc.get_referrers(*(each for each in gone if id(each) in kept)):
        if isinstance(holder, tuple):
            tuples.append(holder)
        elif holder is not gone:
            _replace(holder, kept)
    if tuples:
        for holder in gc.get_referrers(*tuples):
            if isinstance(holder, FunctionType) and holder.__defaults__ is not None:
                holder.__defaults__ = _theirs(holder.__defaults__, kept)


def _kept(gone: list[Any], originals: list[Any]) -> dict[int, Any]:
    """Return the originals of what somebody else still holds, by the identity of what stood for them."""
    return {id(gone[at]): original for at, original in enumerate(originals) if _references(gone, at) > _ALONE}


def _replace(holder: Any, originals: dict[int, Any]) -> None:
    """Have one object hold the originals instead."""
    if isinstance(holder, dict):
        _in_names(holder, originals)
    elif isinstance(holder, list):
        holder[:] = _theirs(holder, originals)
    elif isinstance(holder, CellType):
        holder.cell_contents = originals.get(id(holder.cell_contents), holder.cell_contents)
    elif isinstance(holder, partial):
        function, args = originals.get(id(holder.func), holder.func), _theirs(holder.args, originals)
        holder.__setstate__((function, args, holder.keywords, vars(holder)))  # type: ignore[attr-defined]
    else:  # an object that had no table of its names so far
        with suppress(AttributeError):
            _in_names(object.__getattribute__(holder, "__dict__"), originals)


def _theirs(values: Sequence[Any], originals: dict[int, Any]) -> tuple[Any, ...]:
    return tuple(originals.get(id(value), value) for value in values)


def _in_names(names: dict[Any, Any], originals: dict[int, Any]) -> None:
    found = {name: originals[id(value)] for name, value in tuple(names.items()) if id(value) in originals}
    if "__module__" not in names:
        names.update(found)
        return
    for owner in gc.get_referrers(names):  # a class has to be told
        if isinstance(owner, type) and found.keys() <= vars(owner).keys():
            for name, original in found.items():
                setattr(owner, name, original)
