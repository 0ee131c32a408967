"""This file is what schedulers watch: whether it is one of the run's losses, and how often a rate was cut for it."""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence

import numpy as np

from torchmagic.analyses.rates import Rate
from torchmagic.session.run import Run

# A value is a loss where the newest one, or the mean of those since the value before, is within this share of it.
NEAR = 0.02
# It is so where at least this share of the values are.
MOST = 0.5


def num_cuts(rate: Rate) -> int:
    """Return how often a rate came down."""
    return int((np.diff(rate.values) < 0).sum())


def is_a_loss(run: Run, schedule: str) -> bool:
    """Whether what a scheduler watches is a loss of the run: the newest of a batch or pass, or the mean since before.

    Args:
        run: The run.
        schedule: Name of the scheduler.
    """
    steps, values = run.series("schedule_metric", name=schedule)
    losses = [run.series("loss", name=name) for name in run.subjects("loss")]
    evaluated = [run.series("eval_loss", name=name) for name in run.subjects("eval_loss")]
    near, before = 0, 0
    for step, value in zip(steps, values, strict=True):
        # the loss of a step has the number of steps made before it, an evaluation that of those behind which it is
        batches = [found for each in losses if (found := _between(*each, before, step))]
        passes = [course[place - 1] for at, course in evaluated if (place := bisect_right(at, step))]
        known = [*passes, *(found[-1] for found in batches), *(sum(found) / len(found) for found in batches)]
        near += any(abs(value - each) <= NEAR * abs(value) for each in known)
        before = step
    return near >= MOST * len(values)


def _between(steps: Sequence[int], values: Sequence[float], first: int, end: int) -> list[float]:
    """Return the finite values of some steps, the last of which is the one before the end."""
    some = values[bisect_left(steps, first) : bisect_left(steps, end)]
    return [value for value in some if math.isfinite(value)]
