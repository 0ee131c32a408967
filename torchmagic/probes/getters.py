"""This file is the getters: what an attribute is, as far as reading it runs no code of the user's."""

import functools
import inspect
from types import FunctionType
from typing import Any

from torch import nn

UNKNOWN = object()
_KEPT = ("_parameters", "_buffers", "_modules")


def attribute_of(owner: Any, name: str) -> Any:
    """Return an attribute; ``UNKNOWN`` where there is none, or where a property or ``__getattr__`` would compute it."""
    if isinstance(owner, nn.Module):
        kept = (vars(owner).get(each) or {} for each in _KEPT)
        found = next((each[name] for each in kept if name in each), UNKNOWN)
        if found is not UNKNOWN and getter_of(owner, name) is None:
            return found
    found = inspect.getattr_static(owner, name, UNKNOWN)
    if found is UNKNOWN or _computes(found):
        return UNKNOWN
    return getattr(owner, name, UNKNOWN)


def getter_of(owner: Any, name: str) -> FunctionType | None:
    """Return the function that computes an attribute of an object each time, or the first time, that it is read."""
    found = inspect.getattr_static(type(owner), name, None)
    getter = found.fget if isinstance(found, property) else getattr(found, "func", None) if _computes(found) else None
    return getter if isinstance(getter, FunctionType) else None


def _computes(found: Any) -> bool:
    return isinstance(found, (property, functools.cached_property))
