"""This file is the trial: two ways of doing the same, run in turn until it is clear which is faster."""

import statistics
import time
from collections.abc import Callable
from typing import NamedTuple

# Times that each way is run after the first, which loads what it needs; and how long all of it may take (s).
FEWEST, MOST, PATIENCE = 3, 15, 4.0


class Outcome(NamedTuple):
    """What a trial gave.

    Args:
        trials: Times that each way was timed.
        before: Median seconds of the first way.
        after: Median seconds of the second.
        spread: Half of the range in which the middle half of the ratios before to after lies.
    """

    trials: int
    before: float
    after: float
    spread: float


def in_turn(before: Callable[[], object], after: Callable[[], object]) -> Outcome | None:
    """Time two ways in turn, so that a busy machine slows both; None where one run takes too long to be repeated.

    Args:
        before: The first way; it ends when its work does, an accelerator's included.
        after: The second way.
    """
    began = time.perf_counter()
    before(), after()
    if (time.perf_counter() - began) * FEWEST > PATIENCE:
        return None
    pairs: list[tuple[float, float]] = []
    while len(pairs) < MOST and (len(pairs) < FEWEST or time.perf_counter() - began < PATIENCE):
        pairs.append((_seconds(before), _seconds(after)))
    ratios = sorted(first / second for first, second in pairs)
    quarter = len(ratios) // 4
    return Outcome(
        trials=len(pairs),
        before=statistics.median(first for first, _ in pairs),
        after=statistics.median(second for _, second in pairs),
        spread=(ratios[-1 - quarter] - ratios[quarter]) / 2,
    )


def _seconds(way: Callable[[], object]) -> float:
    began = time.perf_counter()
    way()
    return time.perf_counter() - began
