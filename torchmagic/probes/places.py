"""This file is the places where torch keeps what is watched: an attribute of an owner, and the body of a function."""

from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any, Protocol

import torch
from torch import nn
from torch.nn import functional

from torchmagic.probes.bodies import Body, body_of
from torchmagic.probes.compiler import not_traced, traced_as
from torchmagic.probes.scripted import stand_in, step_down
from torchmagic.probes.stand_ins import StandIn
from torchmagic.probes.weak_table import WeakTable

# Methods of modules that the compiler traces to their end, and of which our wrapper has the same defaults.
TRACEABLE = ("__call__", "train")
# Their functions are all written in Python, and programs keep them: they are watched wherever they are kept.
KEPT = (functional, nn.init)
# Of theirs that are written in C the same is true.
BARE = (torch, functional)
# What each of our wrappers stands for.
_originals: WeakTable[Any, Any] = WeakTable()


class Place(Protocol):
    """Where something of torch's is found, and can be replaced."""

    original: Any
    is_named: bool  # whether programs that keep what stands there keep something of ours
    seat: tuple[Any, str, Any]  # the object and its attribute that change, and what of torch's stands there

    def install(self, wrapper: Any) -> Any:
        """Put a wrapper there; the answer is what stands there then."""

    def show(self, installed: Any) -> None:
        """Show what was installed; torch's own for None."""

    def shows(self, installed: Any) -> bool:
        """Whether this, or torch's own for None, is what stands there."""

    def let_go(self, installed: Any) -> None:
        """Forget what no longer stands there."""


class InBody:
    """The body of a function.

    Args:
        body: The body.
    """

    is_named = False

    def __init__(self, body: Body) -> None:
        self._body = body
        self.original = body.original
        self.seat = body.function, "__code__", body.own

    def install(self, wrapper: Any) -> Any:
        """Have the function call a wrapper."""
        stand_in(self._body.function, self.original)
        self._body.hand_on(wrapper)
        return self._body.function.__code__

    def show(self, installed: Any) -> None:
        """Have the function do what was installed, or what torch wrote."""
        self._body.function.__code__ = self._body.own if installed is None else installed

    def shows(self, installed: Any) -> bool:
        """Whether nobody else has given the function a body."""
        return self._body.function.__code__ is (self._body.own if installed is None else installed)

    def let_go(self, installed: Any) -> None:
        """Have nothing of ours at the function."""
        step_down(self._body.function)
        self._body.let_go()


class InAttribute:
    """An attribute; where somebody has put a wrapper of a run that is over back into it, torch's own belongs there.

    Args:
        owner: Has it.
        name: Its name.
    """

    is_named = True

    def __init__(self, owner: Any, name: str) -> None:
        self._owner, self._name = owner, name
        self._own = name in vars(owner)
        found = getattr(owner, name)
        self.original = _originals.get(found) or found
        self.seat = owner, name, self.original
        stands_in = owner in BARE and isinstance(self.original, BuiltinFunctionType)
        self._stand_in = StandIn(self.original) if stands_in else None

    def install(self, wrapper: Any) -> Any:
        """Put a wrapper there; one around a function that classes do not bind is none that they bind."""
        value = wrapper
        if self._stand_in is not None:  # the same for all wrappers: programs may have kept it
            value, self._stand_in.wrapper = self._stand_in, wrapper
        _originals[value] = self.original
        stand_in(value, self.original)
        self._tell_the_compiler(value)
        self.show(value)
        return value

    def show(self, installed: Any) -> None:
        """Put this there, or torch's own back."""
        if installed is not None:
            setattr(self._owner, self._name, installed)
        elif self._own:
            setattr(self._owner, self._name, self.original)
        elif self._name in vars(self._owner):
            delattr(self._owner, self._name)

    def shows(self, installed: Any) -> bool:
        """Whether nobody else has put something there."""
        bare = self.original if self._own else None
        return vars(self._owner).get(self._name) is (bare if installed is None else installed)

    def let_go(self, installed: Any) -> None:
        """Have TorchScript forget it."""
        step_down(installed)

    def _tell_the_compiler(self, wrapper: Any) -> None:
        if not isinstance(wrapper, FunctionType):
            return
        if isinstance(self._owner, ModuleType) or (self._owner is nn.Module and self._name in TRACEABLE):
            traced_as(wrapper, self.original)
        else:
            not_traced(wrapper)


def place_of(owner: Any, name: str) -> Place:
    """Return where ``owner.name`` is replaced."""
    body = body_of(getattr(owner, name)) if owner in KEPT else None
    return InAttribute(owner, name) if body is None else InBody(body)
