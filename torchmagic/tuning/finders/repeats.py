"""This file is a step done again and again until it can be timed."""

from collections.abc import Callable
from typing import Any

from torchmagic.tuning.finders.deadline import Deadline

# Shorter trials are timed too coarsely: a busy machine takes the core away for some milliseconds at a time (s).
_ENOUGH = 0.03
_MOST = 300


def repeated(step: Callable[[], float], deadline: Deadline) -> float:
    """Do steps for some milliseconds, one at least, and return the seconds of one.

    Args:
        step: Does one and returns its seconds.
        deadline: Looked at before each.

    Raises:
        TimeIsUpError: If there is no time for one more.
    """
    total, number = 0.0, 0
    while total < _ENOUGH and number < _MOST:
        deadline.check()
        total += step()
        number += 1
    return total / number


def clocked(work: Callable[[], Any], clock: Callable[[], float]) -> Callable[[], float]:
    """Return a step that does some work and returns its seconds."""

    def step() -> float:
        begin = clock()
        work()
        return clock() - begin

    return step
