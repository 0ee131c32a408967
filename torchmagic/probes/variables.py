"""This file reads the notebook's variables: what the user's names hold, without running any code of the user's."""

from collections import deque
from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any

from torch import nn

from torchmagic.probes.module_parts import named_modules_of
from torchmagic.tensors.genuine import attributes_of, is_genuine

# Items of a container and attributes of an object that are looked at: the newest.
MOST_ITEMS = 64
# Levels of containers inside a container, as of pairs in a list for each layer, and items looked at on each.
DEEPER, MOST_INSIDE = 2, 4096
# Objects that hold too much, or not what the user made.
_OPAQUE = (type, ModuleType)
_CONTAINERS = (list, tuple, dict, deque)


def variables(namespace: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield each public name with its value, and, for containers and objects, with what they hold; all is genuine.

    A list ``losses`` of tensors is yielded item by item under the one name ``losses``; attributes are yielded as
    ``trainer.history``, and the items of a list in an attribute under that name too.
    """
    for name, value in list(namespace.items()):
        if not name.startswith("_") and name not in ("In", "Out") and is_genuine(value):
            yield name, value
            yield from ((path, each) for path, each in _within(name, value) if is_genuine(each))


def _within(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield what a container or an object holds."""
    if isinstance(value, _CONTAINERS):
        yield from ((name, item) for item in items_of(value))
    elif isinstance(value, nn.Module):
        for path, module in list(named_modules_of(value))[:MOST_ITEMS]:
            yield from _attributes(f"{name}.{path}" if path else name, module)
    elif not isinstance(value, _OPAQUE):
        yield from _attributes(name, value)


def _attributes(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the attributes in an object's dictionary; properties are not asked."""
    for key, each in list(attributes_of(value).items())[:MOST_ITEMS]:
        yield f"{name}.{key}", each
        if is_genuine(each) and isinstance(each, _CONTAINERS):
            yield from ((f"{name}.{key}", item) for item in items_of(each))


def items_of(value: Any) -> list[Any]:
    """Return the last items of a list, tuple or dict, and those of the lists, tuples and dicts in it, and in these."""
    found = level = _last(value)
    for _ in range(DEEPER):
        inside = (item for item in level if is_genuine(item) and isinstance(item, _CONTAINERS))
        level = [each for item in inside for each in _last(item)][-MOST_INSIDE:]
        found = found + level
    return found


def _last(value: Any) -> list[Any]:
    """Return the newest items of a container."""
    return held_in(value, slice(-MOST_ITEMS, None))


def held_in(value: Any, part: slice) -> list[Any]:
    """Return some items of a list, tuple, dict or deque, by its own type's methods, not by those of a user's class."""
    if isinstance(value, list):
        return list.__getitem__(value, part)
    if isinstance(value, tuple):
        return list(tuple.__getitem__(value, part))
    return list(dict.values(value) if isinstance(value, dict) else deque.__iter__(value))[part]
