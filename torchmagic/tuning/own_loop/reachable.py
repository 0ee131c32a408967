"""This file is the walk over what values hold: containers, attributes, closures; data and its loaders stay closed."""

import collections
from collections.abc import Iterable, Iterator, Mapping
from types import FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

# Nothing beyond these belongs to a training, or it is not to be looked at one by one.
_LEAVES = (str, bytes, int, float, complex, type(None), type, ModuleType, np.ndarray, torch.dtype, torch.device)
_CLOSED = (torch.Tensor, DataLoader, Dataset)
_ROWS = (list, tuple, set, frozenset, collections.deque)
_OF_OBJECTS = {"__dict__", "__weakref__"}
# A namespace may hold anything; beyond so many objects it is no longer a training that is looked at.
MOST = 200_000


def reachable(values: Iterable[Any]) -> Iterator[Any]:
    """Yield values and what they hold, each once, at most 200,000."""
    waiting, seen = list(values), set[int]()
    while waiting and len(seen) < MOST:
        value = waiting.pop()
        if isinstance(value, _LEAVES) or id(value) in seen:
            continue
        seen.add(id(value))
        yield value
        waiting += _held(value)


def _held(value: Any) -> Iterable[Any]:
    if isinstance(value, _CLOSED):
        return ()
    if isinstance(value, Mapping):
        return list(value.values())
    if isinstance(value, _ROWS):
        return list(value)
    if isinstance(value, MethodType):
        return [value.__self__]
    if isinstance(value, FunctionType):
        return list(closed_over(value))
    held = getattr(value, "__dict__", None)
    slots = [name for kind in type(value).__mro__ for name in _names(vars(kind).get("__slots__", ()))]
    inside = [getattr(value, name) for name in slots if name not in _OF_OBJECTS and hasattr(value, name)]
    return [*inside, *held.values()] if isinstance(held, dict) else inside


def _names(slots: Any) -> tuple[str, ...]:
    return (slots,) if isinstance(slots, str) else tuple(slots)


def closed_over(function: FunctionType) -> Iterator[Any]:
    """Yield the values of the enclosing functions' names that a function uses, as far as they are set."""
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:
            continue
