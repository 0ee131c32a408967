"""This file finds generators of random numbers that every worker of a loader copies and draws from."""

import functools
import random
from collections.abc import Iterator
from types import CodeType, FunctionType, MethodType
from typing import Any

import numpy as np
import torch

from torchmagic.analyses.seed_lines import line_making_generator, line_seeding
from torchmagic.probes.notebook_text import notebook_text
from torchmagic.probes.sites import is_users_file
from torchmagic.records.place import Place

GENERATORS = (np.random.Generator, np.random.RandomState, random.Random, torch.Generator)
# Attributes looked at in an object, and how far down: a subset's dataset's transform.
MOST_ATTRIBUTES, DEEPEST = 64, 4
# Code that asks in which worker it runs, or seeds anew, can be right in ways that are not looked into.
KNOWING = frozenset({"get_worker_info", "worker_id", "seed", "manual_seed", "initial_seed", "spawn", "setstate"})


def generators_read(dataset: Any, collate: Any) -> tuple[str, ...]:
    """Return the names of generators that a dataset keeps, or that are global, and that its samples are made with.

    Nothing of the user's is run: the names that the code of its methods reads are compared with what there is.

    Args:
        dataset: The dataset; what it wraps and calls is looked at as well.
        collate: The function that makes batches, or None.
    """
    found: dict[str, None] = {}
    names: set[str] = set()
    for owner, path in _objects(dataset, "", 0):
        functions = list(_functions(owner))
        read = {name for function in functions for name in _names(function.__code__)}
        names |= read
        found |= dict.fromkeys(
            f"{path}{name}" for name, value in _held(owner) if isinstance(value, GENERATORS) and name in read
        )
        for function in functions:
            found |= dict.fromkeys(_outside(function, 0))
    if isinstance(collate, FunctionType) and is_users_file(collate.__code__.co_filename):
        found |= dict.fromkeys(_outside(collate, 0))
    return () if names & KNOWING else tuple(found)


def line_of_seed(generators: tuple[str, ...], function: Any, place: Place | None) -> Place | None:
    """Return the line of the notebook that makes the first generator, or that seeds in a function for workers."""
    notebook = notebook_text(place.file if place is not None else "")
    name = getattr(function, "__name__", "")
    line = line_seeding(notebook.text, name) if name else None
    if generators and not name:
        line = line_making_generator(notebook.text, generators[0].rpartition(".")[2])
    return notebook.place_at(line)


def plain_function(function: Any) -> tuple[FunctionType, str] | None:
    """Return the function behind a partial or a method, and the name of the argument left for the worker's number."""
    given: tuple[Any, ...] = ()
    while isinstance(function, functools.partial):
        given, function = (*function.args, *given), function.func
    if isinstance(function, MethodType):
        given, function = (function.__self__, *given), function.__func__
    if not isinstance(function, FunctionType) or function.__code__.co_argcount <= len(given):
        return None
    return function, function.__code__.co_varnames[len(given)]


def _objects(value: Any, path: str, depth: int) -> Iterator[tuple[Any, str]]:
    """Yield a dataset, and the objects that it keeps and may call, with the way to their attributes."""
    yield value, path
    if depth >= DEEPEST or isinstance(value, FunctionType):
        return
    for name, held in _held(value):
        several = held[:MOST_ATTRIBUTES] if isinstance(held, (list, tuple)) else [held]
        for each in several:
            if isinstance(each, FunctionType) or (
                hasattr(each, "__dict__") and not isinstance(each, (type, torch.Tensor, *GENERATORS))
            ):
                yield from _objects(each, f"{path}{name}.", depth + 1)


def _held(value: Any) -> list[tuple[str, Any]]:
    """Return what an object's dictionary and its user's classes hold."""
    own = getattr(value, "__dict__", None)
    found = list(own.items())[:MOST_ATTRIBUTES] if isinstance(own, dict) else []
    for kind in type(value).__mro__:
        found += [(name, each) for name, each in vars(kind).items() if isinstance(each, GENERATORS)]
    return found


def _functions(value: Any) -> Iterator[FunctionType]:
    """Yield the user's own methods of an object, but for its construction; a function is itself."""
    if isinstance(value, FunctionType):
        if is_users_file(value.__code__.co_filename):
            yield value
        return
    for kind in type(value).__mro__:
        for name, each in vars(kind).items():
            if isinstance(each, FunctionType) and name != "__init__" and is_users_file(each.__code__.co_filename):
                yield each


def _names(code: CodeType) -> set[str]:
    found = set(code.co_names)
    for each in code.co_consts:
        if isinstance(each, CodeType):
            found |= _names(each)
    return found


def _outside(function: FunctionType, depth: int) -> Iterator[str]:
    """Yield the generators that a function reads from its globals and its closure, and those of functions it calls."""
    for name in _names(function.__code__):
        value = function.__globals__.get(name)
        if isinstance(value, GENERATORS):
            yield name
        elif isinstance(value, FunctionType) and depth < DEEPEST and is_users_file(value.__code__.co_filename):
            yield from _outside(value, depth + 1)
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=False):
        try:
            value = cell.cell_contents
        except ValueError:  # not yet given a value
            continue
        if isinstance(value, GENERATORS):
            yield name
