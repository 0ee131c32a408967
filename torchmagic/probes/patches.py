"""This file is the patch: an attribute replaced for a while, and put back as it was."""

from collections.abc import Callable
from typing import Any

from torchmagic.probes.scripted import stand_in, step_down

Wrap = Callable[[Any], Any]


class _Slot:
    """An attribute that is replaced, and the wraps around it, in the order in which they came."""

    def __init__(self, owner: Any, name: str) -> None:
        self.owner, self.name = owner, name
        self.own = name in vars(owner)
        self.original = getattr(owner, name)
        self.wraps: list[tuple[object, Wrap]] = []
        self.installed: Any = None

    def rebuild(self) -> None:
        """Put what the wraps make of the original in place, unless somebody else has replaced it meanwhile."""
        if self.installed is not None and vars(self.owner).get(self.name) is not self.installed:
            return  # theirs stays; ours, which they may still call, passes through once its run has ended
        value = self.original
        if self.installed is not None:
            step_down(self.installed)
        for _, wrap in self.wraps:
            value = wrap(value)
        if self.wraps:
            stand_in(value, self.original)
        if self.wraps or self.own:
            setattr(self.owner, self.name, value)
        else:
            delattr(self.owner, self.name)
        self.installed = value


# One slot an attribute in the whole process: runs that overlap may end in any order.
_slots: dict[tuple[int, str], _Slot] = {}


class Patches:
    """Attributes replaced on behalf of one run."""

    def __init__(self) -> None:
        self._names: list[tuple[int, str]] = []

    def __len__(self) -> int:
        return len(self._names)

    def replace(self, owner: Any, name: str, wrap: Wrap) -> None:
        """Put ``wrap(original)`` in the place of ``owner.name``; nothing happens when there is no such name."""
        if getattr(owner, name, None) is None:
            return
        key = (id(owner), name)
        slot = _slots.get(key)
        if slot is None:
            slot = _slots[key] = _Slot(owner, name)
        slot.wraps.append((self, wrap))
        slot.rebuild()
        self._names.append(key)

    def undo(self) -> None:
        """Take this run's wraps out again; safe to call twice."""
        while self._names:
            key = self._names.pop()
            slot = _slots[key]
            slot.wraps = [(whose, wrap) for whose, wrap in slot.wraps if whose is not self]
            slot.rebuild()
            if not slot.wraps:
                del _slots[key]
