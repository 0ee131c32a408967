"""This file is what schedulers watch: whether it is one of the run's losses, and how often a rate was cut for it."""

import math

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
    series = [run.series(metric, name=name) for metric in ("loss", "eval_loss") for name in run.subjects(metric)]
    near, before = 0, -1
    for step, value in zip(steps, values, strict=True):
        near += any(_is_near(value, _since(each, before, step)) for each in series)
        before = step
    return near >= MOST * len(values)


def _since(series: tuple[list[int], list[float]], before: int, step: int) -> list[float]:
    """Return the last value between two steps, and the mean of them."""
    found = [value for at, value in zip(*series, strict=True) if before <= at <= step and math.isfinite(value)]
    return [found[-1], sum(found) / len(found)] if found else []


def _is_near(value: float, others: list[float]) -> bool:
    return any(abs(value - other) <= NEAR * abs(value) for other in others)
