"""This file is the patch: an attribute replaced for a while, and put back as it was."""

from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any

from torch import nn

from torchmagic.probes.compiler import not_traced, traced_as
from torchmagic.probes.scripted import stand_in, step_down

Wrap = Callable[[Any], Any]
# Of these the compiler holds no functions in what it makes: it goes on uncompiled where one is called.
UNCOMPILED = ("torch.autograd", "torch._dynamo.eval_frame")
# Methods of modules that the compiler traces to their end, and of which our wrapper has the same defaults.
TRACEABLE = ("__call__", "train")


class _Slot:
    """An attribute that is replaced, and the wraps around it, in the order in which they came."""

    def __init__(self, owner: Any, name: str) -> None:
        self.owner, self.name = owner, name
        self.own = name in vars(owner)
        self.original = getattr(owner, name)
        self.wraps: list[tuple[object, Wrap]] = []
        self.installed: Any = None
        self.yields = self.own and isinstance(owner, ModuleType) and owner.__name__ not in UNCOMPILED
        self.aside = False

    def rebuild(self) -> None:
        """Put what the wraps make of the original in place, unless somebody else has replaced it meanwhile."""
        if self.installed is not None and not self._is_ours():
            return  # theirs stays; ours, which they may still call, passes through once its run has ended
        value = self.original
        if self.installed is not None:
            step_down(self.installed)
        for _, wrap in self.wraps:
            value = wrap(value)
        if self.wraps:
            stand_in(value, self.original)
            self._tell_the_compiler(value)
        self.installed = value
        self._show()

    def step_aside(self, *, aside: bool) -> None:
        """Show the original for a while, or the wrapper again; what somebody else put there stays."""
        if aside is not self.aside and self._is_ours():
            self.aside = aside
            self._show()

    def _is_ours(self) -> bool:
        return vars(self.owner).get(self.name) is (self.original if self.aside else self.installed)

    def _show(self) -> None:
        if self.wraps and not self.aside:
            setattr(self.owner, self.name, self.installed)
        elif self.own:
            setattr(self.owner, self.name, self.original)
        else:
            delattr(self.owner, self.name)

    def _tell_the_compiler(self, wrapper: Any) -> None:
        if not isinstance(wrapper, FunctionType):
            return
        if isinstance(self.owner, ModuleType) or (self.owner is nn.Module and self.name in TRACEABLE):
            traced_as(wrapper, self.original)
        else:
            not_traced(wrapper)


# One slot an attribute in the whole process: runs that overlap may end in any order.
_slots: dict[tuple[int, str], _Slot] = {}


def step_aside(*, aside: bool) -> None:
    """Show torch's functions as they are without us, or as they are watched; methods stay watched."""
    for slot in tuple(_slots.values()):
        if slot.yields:
            slot.step_aside(aside=aside)


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
