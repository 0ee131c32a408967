"""This file reads the notebook's variables: what the user's names hold, without running any code of the user's."""

from collections import deque
from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any

from torch import nn

# Items of a container and attributes of an object that are looked at: the newest.
MOST_ITEMS = 64
# Levels of containers inside a container, as of pairs in a list for each layer, and items looked at on each.
DEEPER, MOST_INSIDE = 2, 4096
# Objects that hold too much, or not what the user made.
_OPAQUE = (type, ModuleType)
_CONTAINERS = (list, tuple, dict, deque)


def variables(namespace: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield each public name with its value, and, for containers and objects, with what they hold.

    A list ``losses`` of tensors is yielded item by item under the one name ``losses``; attributes are yielded as
    ``trainer.history``, and the items of a list in an attribute under that name too.
    """
    for name, value in list(namespace.items()):
        if not name.startswith("_") and name not in ("In", "Out"):
            yield name, value
            yield from _within(name, value)


def _within(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield what a container or an object holds."""
    if isinstance(value, _CONTAINERS):
        yield from ((name, item) for item in items_of(value))
    elif isinstance(value, nn.Module):
        for path, module in list(value.named_modules())[:MOST_ITEMS]:
            yield from _attributes(f"{name}.{path}" if path else name, module)
    elif not isinstance(value, _OPAQUE):
        yield from _attributes(name, value)


def _attributes(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the attributes in an object's dictionary; properties are not asked."""
    try:
        attributes = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return
    if not isinstance(attributes, dict):
        return
    for key, each in list(attributes.items())[:MOST_ITEMS]:
        yield f"{name}.{key}", each
        if isinstance(each, _CONTAINERS):
            yield from ((f"{name}.{key}", item) for item in items_of(each))


def items_of(value: Any) -> list[Any]:
    """Return the last items of a list, tuple or dict, and those of the lists, tuples and dicts in it, and in these."""
    found = level = _last(value)
    for _ in range(DEEPER):
        level = [each for item in level if isinstance(item, _CONTAINERS) for each in _last(item)][-MOST_INSIDE:]
        found = found + level
    return found


def _last(value: Any) -> list[Any]:
    """Return the newest items of a container, by its own type's methods and not by those of a user's class."""
    newest = slice(-MOST_ITEMS, None)
    if isinstance(value, list):
        return list.__getitem__(value, newest)
    if isinstance(value, tuple):
        return list(tuple.__getitem__(value, newest))
    return list(dict.values(value) if isinstance(value, dict) else deque.__iter__(value))[newest]
