"""This file tells the step of an optimizer from the step of its base class inside of it."""

import sys
from collections.abc import Iterator
from typing import Any

from torch import optim

# Classes whose step calls that of no other one: of these nothing need be asked.
PLAIN = frozenset(each for each in vars(optim).values() if isinstance(each, type))


def is_inner(optimizer: Any) -> bool:
    """Whether the hook that asks was called by a step inside the optimizer's own, as ``super().step()`` is.

    Torch has the step of each class call the hooks, from the first optimizer of that class on.
    """
    steps = list(_chain(type(optimizer).step))
    return len(steps) > 1 and sys._getframe(2).f_locals.get("func", steps[0]) not in steps


def _chain(function: Any) -> Iterator[Any]:
    """Yield a function, what it is wrapped around, and so on."""
    while function is not None:
        yield function
        function = getattr(function, "__wrapped__", None)
