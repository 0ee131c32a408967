"""This file is the nest: what a batch is made of, be it a tuple, a dict or an object that holds tensors."""

from collections.abc import Mapping
from dataclasses import is_dataclass
from inspect import isroutine
from typing import Any

import torch
from torch import nn

# Things that hold tensors and are no batches.
_OTHERS = (type, nn.Module, torch.optim.Optimizer, torch.utils.data.DataLoader, torch.utils.data.Dataset)


def parts_of(value: Any) -> list[tuple[str, Any]]:
    """Return what a value is made of, each part with its name or place; nothing for what is no nest.

    Besides tuples, lists and dicts, those are dataclasses, objects that have a tensor as attribute, and those that keep
    their attributes in a mapping of their own, as graphs do. Only what is stored is read: nothing of theirs is called.
    """
    if isinstance(value, Mapping):
        return [(str(key), each) for key, each in value.items()]
    if isinstance(value, (tuple, list)):
        return [(str(i), each) for i, each in enumerate(value)]
    if isinstance(value, _OTHERS) or isroutine(value):
        return []
    attributes = getattr(value, "__dict__", None) or _slots(value)
    stored = [part for name, each in attributes.items() if name.startswith("_") for part in _storage(each)]
    public = [(name, each) for name, each in attributes.items() if not name.startswith("_")]
    holds = is_dataclass(value) or any(isinstance(each, torch.Tensor) for _, each in public)
    return stored + (public if holds else [])


def _slots(value: Any) -> dict[str, Any]:
    """Return the attributes of an object that has places for them in its class."""
    names = getattr(type(value), "__slots__", ()) if is_dataclass(value) else ()
    return {name: getattr(value, name) for name in names if hasattr(value, name)}


def _storage(value: Any) -> list[tuple[str, Any]]:
    """Return the parts of a mapping of its own class, or of several in a dict; a plain dict is somebody's notes."""
    if isinstance(value, Mapping) and not isinstance(value, dict):
        return parts_of(value)
    every = list(value.items()) if type(value) is dict else []
    return [(str(key), each) for key, each in every if isinstance(each, Mapping) and not isinstance(each, dict)]
