"""This file is the nest: what a batch is made of, be it a tuple, a dict or an object that holds tensors."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import is_dataclass
from enum import Enum
from inspect import isroutine
from itertools import islice
from typing import Any

import torch
from torch import nn

from torchmagic.tensors.genuine import attributes_of, is_genuine

# Items of one nest that are looked at.
MOST_ITEMS = 256
# Keys that can be written as they are shown.
_WRITTEN = (str, int, float, bool, tuple, bytes)
# Things that hold tensors and are no batches.
_OTHERS = (type, nn.Module, torch.optim.Optimizer, torch.utils.data.DataLoader, torch.utils.data.Dataset)


def parts_of(value: Any) -> list[tuple[str, Any]]:
    """Return what a value is made of, each part with its name or place; nothing for what is no nest.

    Besides tuples, lists and dicts, those are dataclasses, objects that have a tensor as attribute, and those that keep
    their attributes in a mapping of their own, as graphs do. Only what is stored is read: nothing of theirs is called.
    """
    if not is_genuine(value):
        return []
    if isinstance(value, (Mapping, tuple, list)):
        return [(_name_of(key), each) for key, each in entries_of(value)]
    if isinstance(value, _OTHERS) or isroutine(value):
        return []
    attributes = attributes_of(value) or _slots(value)
    stored = [part for name, each in attributes.items() if name.startswith("_") for part in _storage(each)]
    public = [(name, each) for name, each in attributes.items() if not name.startswith("_")]
    holds = is_dataclass(value) or any(isinstance(each, torch.Tensor) for _, each in public)
    return stored + (public if holds else [])


def entries_of(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the first items of a mapping, a tuple or a list, with their keys or places, save those that are mocks.

    Of Python's own kinds they are taken as Python keeps them, of others as they give them, if they do.
    """
    if not is_genuine(value):
        return
    if isinstance(value, dict):
        items: Iterable[tuple[Any, Any]] = dict.items(value)
    elif isinstance(value, tuple):
        items = enumerate(tuple.__iter__(value))
    elif isinstance(value, list):
        items = enumerate(list.__iter__(value))
    elif isinstance(value, Mapping):
        items = _given_by(value)
    else:
        return
    yield from ((key, each) for key, each in islice(items, MOST_ITEMS) if is_genuine(each))


def _name_of(key: Any) -> str:
    """Return a key as it is written; of an object of the user's, who knows what happens when it is shown, its class."""
    return str(key) if type(key) in _WRITTEN or issubclass(type(key), Enum) else type(key).__name__


def _given_by(mapping: Mapping[Any, Any]) -> list[tuple[Any, Any]]:
    try:
        return list(mapping.items())
    except Exception:  # noqa: BLE001 - the code of whoever made it
        return []


def _slots(value: Any) -> dict[str, Any]:
    """Return the attributes of an object that has places for them in its class."""
    names = getattr(type(value), "__slots__", ()) if is_dataclass(value) else ()
    found = {}
    for name in names:
        with suppress(AttributeError):  # nothing was put there
            found[name] = object.__getattribute__(value, name)
    return found


def _storage(value: Any) -> list[tuple[str, Any]]:
    """Return the parts of a mapping of its own class, or of several in a dict; a plain dict is somebody's notes."""
    if isinstance(value, Mapping) and not isinstance(value, dict):
        return parts_of(value)
    every = list(value.items()) if type(value) is dict else []
    return [(_name_of(key), each) for key, each in every if isinstance(each, Mapping) and not isinstance(each, dict)]
