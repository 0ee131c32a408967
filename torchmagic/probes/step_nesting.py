"""This file tells the step of an optimizer from those inside of it: of its base class, of another optimizer."""

import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any

from torch import optim

from torchmagic.probes.weak_table import WeakTable

# Classes whose step calls that of no other one: of these nothing need be asked.
PLAIN = frozenset(each for each in vars(optim).values() if isinstance(each, type))

# What torch wraps every step in, by the name of its code; the optimizer is its ``self``.
WRAPPER = "Optimizer.profile_hook_step.<locals>.wrapper"


class Nesting:
    """Which of the steps that torch tells the hooks of are steps of their own.

    Of a class and its base the outer one is, where ``step`` calls ``super().step()``. Of an optimizer around another
    over the same parameters, as Lookahead and SAM are, it is the inner one: it has the rate and the last gradients.
    Where the inner one cannot be seen beforehand, it is the outer one.
    """

    def __init__(self) -> None:
        # Those that stepped within the step of another, or around it, and those that have another and did not step it.
        self._related: WeakTable[Any, None] = WeakTable()
        self._alone: WeakTable[Any, None] = WeakTable()
        self._under_way: list[int] = []  # identities of optimizers, the outermost first
        self._around: dict[int, int] = {}  # of those around others: how many steps had begun before theirs
        self._begun = 0

    def part(self) -> None:
        """Take what is under way for over: nobody knows the optimizers any more that would be told of as they end."""
        self._under_way.clear()

    def is_related(self, optimizer: Any) -> bool:
        """Whether an optimizer stepped within, or around, the step of another."""
        return optimizer in self._related

    def begins(self, optimizer: Any) -> bool:
        """Whether a step of its own begins; the hook itself has to ask."""
        if type(optimizer) not in PLAIN:
            if _is_of_base(optimizer):
                return False
            if optimizer not in self._alone and _is_around_another(optimizer):
                self._around[id(optimizer)] = self._begun
                return False
        if self._under_way and self._is_within_another(optimizer):
            self._related[optimizer] = None
            return False
        self._under_way.append(id(optimizer))
        self._begun += 1
        return True

    def ends(self, optimizer: Any) -> bool:
        """Whether it is one that began, and ends; the hook itself has to ask."""
        key = id(optimizer)
        if type(optimizer) not in PLAIN:
            if _is_of_base(optimizer):
                return False
            if key in self._around:
                stepped = self._begun > self._around.pop(key)
                (self._related if stepped else self._alone)[optimizer] = None
                return False
        if key not in self._under_way:
            return False
        del self._under_way[self._under_way.index(key) :]
        return True

    def _is_within_another(self, optimizer: Any) -> bool:
        others = {id(other): other for other in _stepping() if other is not optimizer}
        self._under_way = [each for each in self._under_way if each in others]  # the rest ended with an exception
        return any(_steps_all_of(others[each], optimizer) for each in self._under_way)


def _is_of_base(optimizer: Any) -> bool:
    """Whether the hook was called by a step inside the optimizer's own, as ``super().step()`` is.

    Torch has the step of each class call the hooks, from the first optimizer of that class on.
    """
    steps = list(_chain(type(optimizer).step))
    return len(steps) > 1 and sys._getframe(3).f_locals.get("func", steps[0]) not in steps


def _is_around_another(optimizer: Any) -> bool:
    """Whether an optimizer has another one that steps all of its parameters."""
    others = [each for each in vars(optimizer).values() if isinstance(each, optim.Optimizer) and each is not optimizer]
    return any(_steps_all_of(each, optimizer) for each in others)


def _chain(function: Any) -> Iterator[Any]:
    """Yield a function, what it is wrapped around, and so on."""
    while function is not None:
        yield function
        function = getattr(function, "__wrapped__", None)


def _stepping() -> Iterator[Any]:
    """Yield the optimizers whose steps this thread is in, the innermost first."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_qualname == WRAPPER:
            yield frame.f_locals.get("self")
        frame = frame.f_back


def _steps_all_of(one: Any, other: Any) -> bool:
    """Whether an optimizer has all parameters of another one; groups that are made otherwise tell nothing."""
    try:
        return _parameters(other) <= _parameters(one)
    except Exception:  # noqa: BLE001 - the user's own class may have anything there, and this runs in its step
        return False


def _parameters(optimizer: Any) -> set[int]:
    """Return the identities of an optimizer's parameters."""
    return {id(parameter) for group in optimizer.param_groups for parameter in group["params"]}
