"""This file is a table by objects that it does not keep alive; they leave it without a line of Python.

An interrupt that comes while Python runs for an object that dies is lost: nothing can be raised there. The tables of
``weakref`` run a line for each. Here what is called is written in C.
"""

from functools import partial
from typing import Generic, TypeVar
from weakref import ref

Key = TypeVar("Key")
Value = TypeVar("Value")


class WeakTable(Generic[Key, Value]):
    """Values by the identity of objects, that need not have a hash, and may say that they are equal to others."""

    def __init__(self) -> None:
        self._entries: dict[int, tuple[ref[Key], Value]] = {}

    def __setitem__(self, key: Key, value: Value) -> None:
        # As the object dies it is ``pop(identity, its reference)`` that is called: what is gone already is no error.
        self._entries[id(key)] = ref(key, partial(self._entries.pop, id(key))), value

    def __contains__(self, key: Key) -> bool:
        return id(key) in self._entries

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: Key) -> Value | None:
        """Return the value of an object; None for one that has none."""
        entry = self._entries.get(id(key))
        return None if entry is None else entry[1]

    def items(self) -> list[tuple[Key, Value]]:
        """Return the objects that are alive, in the order in which they came, and their values."""
        found = [(each(), value) for each, value in list(self._entries.values())]
        return [(key, value) for key, value in found if key is not None]

    def clear(self) -> None:
        """Forget all."""
        self._entries.clear()
