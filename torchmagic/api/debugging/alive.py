"""This file is the debuggers that are alive in this process, by group, so that a server can tell what they saw."""

import itertools
import threading
from typing import Any, Literal
from weakref import WeakValueDictionary

Group = Literal["training", "diffusion", "general"]

_lock = threading.Lock()
_numbers = itertools.count()
# By a running number: the order of making is kept, and a debugger needs no hash.
_debuggers: dict[Group, WeakValueDictionary[int, Any]] = {
    "training": WeakValueDictionary(),
    "diffusion": WeakValueDictionary(),
    "general": WeakValueDictionary(),
}


def register(debugger: Any, group: Group) -> None:
    """Remember a debugger as long as somebody else holds it.

    Args:
        debugger: Any object that can be referred to weakly.
        group: ``training``, ``diffusion`` or ``general``.
    """
    with _lock:
        _debuggers[group][next(_numbers)] = debugger


def alive(group: Group) -> list[Any]:
    """Return the debuggers of a group that are alive, in the order in which they were made; any thread may ask."""
    with _lock:
        return [each for _, each in sorted(_debuggers[group].items(), key=lambda item: item[0])]
