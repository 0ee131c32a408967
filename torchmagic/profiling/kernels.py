"""This file puts what ran on an accelerator down to the operators that launched it."""

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from torchmagic.profiling.collected import Event
from torchmagic.profiling.line_costs import READ
from torchmagic.profiling.stack import Stack


class Kernels(NamedTuple):
    """What ran on the accelerator.

    Args:
        busy: Nanoseconds in which at least one kernel or copy ran.
        copies_back: Copies to the host by the line that asked for them, reads of single values left out.
    """

    busy: int
    copies_back: Counter[int]


def kernels(events: Iterable[Event], stack: Stack) -> Kernels:
    """Add each kernel's time to the sum of the operator that launched it, and return what they were together.

    Args:
        events: Kernels and copies.
        stack: What the host did; its sums get their kernels' times.
    """
    copies_back: Counter[int] = Counter()
    times = []
    for event in events:
        times.append((event.start, event.end))
        cell = stack.operators.get(event.correlation)
        if cell is None:
            continue
        cell.device += event.end - event.start
        if event.name.startswith("Memcpy DtoH") and cell.name != READ:
            copies_back[cell.context.lines.index] += 1
    return Kernels(_covered(times), copies_back)


def _covered(times: list[tuple[int, int]]) -> int:
    """Return how long at least one of some times lasts."""
    covered, until = 0, 0
    for start, end in sorted(times):
        covered += max(0, end - max(start, until))
        until = max(until, end)
    return covered
