"""This file is the undoing of what loading a batch changes in a dataset or a sampler: attributes, containers, streams.

What is big is not copied, so this is no proof: tensors and arrays that are written to stay as loading leaves them, and
what an iterator gave is gone.
"""

import contextlib
import functools
import io
import random
from collections import deque
from collections.abc import Callable, Iterator
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset, Sampler

# From a loader over a dataset over a dataset to the list of transforms and the transform, and no further.
_MOST_DEPTH, _MOST_OBJECTS, _MOST_LOOKED_INTO = 6, 300, 50
# Copying references takes 5 ns each.
_MOST_ELEMENTS = 1_000_000
_CONTAINERS = (list, dict, set, deque, bytearray)
_NOT_FOLLOWED = (str, bytes, type, torch.Tensor, np.ndarray, DataLoader, ModuleType, FunctionType)
_Back = Callable[[], Any]


@contextlib.contextmanager
def undone(*owners: Any) -> Iterator[None]:
    """Put back what a block changes in datasets and samplers.

    Args:
        owners: They, or generators. Of each, and of datasets and samplers within, attributes, containers among them,
            and places in open files are put back; of whatever else they refer to, only generators of random numbers.
    """
    backs = [back for each in _found(list(owners)) for back in _backs(each, is_owner=_is_owner(each, owners))]
    try:
        yield
    finally:
        for back in backs:
            back()


def _found(objects: list[Any]) -> Iterator[Any]:
    """Yield objects and what they refer to, step by step."""
    seen: set[int] = set()
    for _ in range(_MOST_DEPTH):
        inside: list[Any] = []
        for each in objects:
            if isinstance(each, _NOT_FOLLOWED) or id(each) in seen or len(seen) >= _MOST_OBJECTS:
                continue
            seen.add(id(each))
            yield each
            inside += _parts(each)
        objects = inside


def _is_owner(value: Any, owners: tuple[Any, ...]) -> bool:
    return isinstance(value, Dataset | Sampler) or any(value is each for each in owners)


def _parts(value: Any) -> list[Any]:
    inside = vars(value) if hasattr(value, "__dict__") else value
    if not isinstance(inside, list | tuple | dict | deque) or (inside is value and len(inside) > _MOST_LOOKED_INTO):
        return []
    return list(inside.values() if isinstance(inside, dict) else inside)


def _backs(value: Any, *, is_owner: bool) -> Iterator[_Back]:
    if isinstance(value, torch.Generator | np.random.RandomState):
        state: Any = value.get_state()
        yield lambda: value.set_state(state)
    elif isinstance(value, random.Random):
        python = value.getstate()
        yield lambda: value.setstate(python)
    elif isinstance(value, np.random.Generator):
        bits = value.bit_generator.state
        yield lambda: _give_bits(value, bits)
    elif is_owner:
        yield from _backs_of_owner(value)


def _give_bits(generator: np.random.Generator, state: Any) -> None:
    generator.bit_generator.state = state


def _backs_of_owner(owner: Any) -> Iterator[_Back]:
    held = [owner, vars(owner), *vars(owner).values()] if hasattr(owner, "__dict__") else [owner]
    for each in held:
        if type(each) in _CONTAINERS and len(each) <= _MOST_ELEMENTS:
            yield functools.partial(_refill, each, each.copy())
        elif isinstance(each, io.IOBase):
            yield from _place_in(each)


def _place_in(file: io.IOBase) -> Iterator[_Back]:
    try:
        place = file.tell() if file.seekable() else None
    except (OSError, ValueError):  # closed, or in the middle of an iteration over its lines
        return
    if place is not None:
        yield lambda: None if file.closed else file.seek(place)


def _refill(container: Any, content: Any) -> None:
    """Give a container its content back, unless it has it still."""
    if isinstance(container, list | deque | bytearray):
        if len(container) != len(content) or any(a is not b for a, b in zip(container, content, strict=True)):
            container.clear()
            container.extend(content)
        return
    if isinstance(container, dict):
        same = container.keys() == content.keys() and all(container[key] is each for key, each in content.items())
    else:
        same = container == content
    if not same:
        container.clear()
        container.update(content)
