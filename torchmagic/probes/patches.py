"""This file is the patch: something of torch's replaced for a while, and put back as it was."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from torch import nn

from torchmagic.probes.giving_back import give_back
from torchmagic.probes.places import TRACEABLE, place_of
from torchmagic.session.fork_safe_lock import ForkSafeLock

Wrap = Callable[[Any], Any]
# Of these the compiler holds no functions in what it makes: it goes on uncompiled where one is called.
UNCOMPILED = ("torch.autograd", "torch._dynamo.eval_frame")


class _Slot:
    """What is replaced, and the wraps around it, in the order in which they came."""

    def __init__(self, owner: Any, name: str) -> None:
        self.place = place_of(owner, name)
        traced = isinstance(owner, ModuleType) and owner.__name__ not in UNCOMPILED
        # What others have wrapped closes over things for which the compiler looks in our wrapper.
        followed = owner is nn.Module and name in TRACEABLE
        traced = traced or (followed and getattr(self.place.original, "__closure__", None) is not None)
        self.yields = name in vars(owner) and traced
        self.wraps: list[tuple[object, Wrap]] = []
        self.installed: Any = None
        self.aside = False

    def rebuild(self) -> None:
        """Put what the wraps make of the original in place, unless somebody else has replaced it meanwhile."""
        if self.installed is not None:
            if not self._is_ours():
                return  # theirs stays; ours, which they may still call, passes through once its run has ended
            self.place.let_go(self.installed)
        value = self.place.original
        for _, wrap in self.wraps:
            value = wrap(value)
        self.installed = self.place.install(value) if self.wraps else None
        if self.aside or not self.wraps:
            self.place.show(None)

    def step_aside(self, *, aside: bool) -> None:
        """Show the original for a while, or the wrapper again; what somebody else put there stays."""
        if aside is not self.aside and self._is_ours():
            self.aside = aside
            self.place.show(None if aside else self.installed)

    def _is_ours(self) -> bool:
        return self.place.shows(None if self.aside else self.installed)


# One slot for each thing of torch's in the whole process: runs that overlap may end in any order.
_slots: dict[tuple[int, str], _Slot] = {}
# Runs of several threads may begin and end at the same time.
_changing = ForkSafeLock()


def step_aside(*, aside: bool) -> None:
    """Show torch's functions as they are without us, or as they are watched; methods stay watched."""
    with _changing:
        for slot in _slots.values():  # without a call for each: compiled code is entered at every step
            if not slot.yields or aside is slot.aside:
                continue
            target, attribute, own = slot.place.seat
            there, then = (slot.installed, own) if aside else (own, slot.installed)
            if getattr(target, attribute) is there:
                slot.aside = aside
                setattr(target, attribute, then)


@contextmanager
def all_aside() -> Iterator[None]:
    """Have all of torch as it is without us for as long as this lasts."""
    with _changing:
        moved = [slot for slot in tuple(_slots.values()) if not slot.aside]
        for slot in moved:
            slot.step_aside(aside=True)
    try:
        yield
    finally:
        with _changing:
            for slot in moved:
                slot.step_aside(aside=False)


class Patches:
    """What is replaced on behalf of one run."""

    def __init__(self) -> None:
        self._names: list[tuple[int, str]] = []

    def __len__(self) -> int:
        return len(self._names)

    def replace(self, owner: Any, name: str, wrap: Wrap) -> None:
        """Put ``wrap(original)`` in the place of ``owner.name``; nothing happens when there is no such name."""
        if getattr(owner, name, None) is None:
            return
        key = (id(owner), name)
        with _changing:
            slot = _slots.get(key)
            if slot is None:
                slot = _slots[key] = _Slot(owner, name)
            slot.wraps.append((self, wrap))
            slot.rebuild()
            self._names.append(key)

    def undo(self) -> None:
        """Take this run's wraps out again; safe to call twice."""
        gone: list[Any] = []
        originals: list[Any] = []
        with _changing:
            while self._names:
                self._withdraw(self._names.pop(), gone, originals)
        give_back(gone, originals)

    def _withdraw(self, key: tuple[int, str], gone: list[Any], originals: list[Any]) -> None:
        slot = _slots[key]
        slot.wraps = [(whose, wrap) for whose, wrap in slot.wraps if whose is not self]
        if not slot.wraps:
            del _slots[key]
            if slot.place.is_named:
                gone.append(slot.installed)
                originals.append(slot.place.original)
        slot.rebuild()
