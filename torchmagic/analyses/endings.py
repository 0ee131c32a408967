"""This file is the endings: where the curves of runs end, how far they scatter there, and how long they are equal."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from torchmagic.analyses.breakdown import sound_part
from torchmagic.session.run import Run

# The end is the mean over this share of the values, and so many where there are: one batch may be a lucky one.
SHARE_OF_VALUES, FEW_VALUES = 0.1, 8
# The scatter is taken from a longer stretch before the end, where the curve has mostly settled.
SHARE_FOR_SCATTER, FEW_FOR_SCATTER = 0.25, 16
# Of fewer values nothing can be said about scatter.
LEAST_VALUES = 8
# Standard deviation of a normal distribution over the median of its magnitudes.
DEVIATION = 1.4826
# Two ends are apart where they differ by more than so many standard errors of their means, ...
STANDARD_ERRORS = 3.0
# ... by more than the single values of either curve scatter, and by more than this share of the larger one.
LEAST_SHARE = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """Where a curve ends.

    Args:
        mean: Mean of its last values; NaN where it has no finite value.
        width: How many values that is the mean of.
        scatter: Standard deviation of single values around the curve; NaN where there are too few to tell.
        broken: Whether the curve ended in values that are not finite.
    """

    mean: float
    width: int
    scatter: float
    broken: bool

    @property
    def error(self) -> float:
        """Standard error of the mean."""
        return self.scatter / math.sqrt(self.width) if self.width else math.nan


def loss_ending(run: Run) -> Ending:
    """Return where the training loss ends, up to the first value that is not finite."""
    names = run.subjects("loss")
    steps, values = run.series("loss", name=names[0]) if names else run.series("loss")
    _, sound = sound_part(run, steps, values)
    known = [value for value in sound if math.isfinite(value)]
    return ending(known, broken=len(known) < len(values))


def ending(values: Sequence[float], *, broken: bool = False) -> Ending:
    """Return where finite values end.

    Args:
        values: Finite values in order.
        broken: Whether values that are not finite came after them.
    """
    if not values:
        return Ending(mean=math.nan, width=0, scatter=math.nan, broken=broken)
    width = max(1, round(len(values) * SHARE_OF_VALUES), min(FEW_VALUES, len(values) // 4))
    tail = np.asarray(values[-max(FEW_FOR_SCATTER, round(len(values) * SHARE_FOR_SCATTER)) :])
    mean = float(np.mean(values[-width:]))
    return Ending(mean=mean, width=width, scatter=_scatter(tail), broken=broken)


def are_apart(one: Ending, other: Ending) -> bool | None:
    """Return whether two ends differ by more than chance in their batches explains; None where that cannot be told."""
    difference = abs(one.mean - other.mean)
    if one.broken or other.broken or math.isnan(difference) or math.isnan(one.scatter) or math.isnan(other.scatter):
        return None
    return (
        difference > STANDARD_ERRORS * math.hypot(one.error, other.error)
        and difference > min(one.scatter, other.scatter)
        and difference > LEAST_SHARE * max(abs(one.mean), abs(other.mean))
    )


def equal_for(run: Run, other: Run, metric: str, *, tolerance: float = 0.0) -> tuple[int, int] | None:
    """Return for how many steps a metric is the same from the first on, and how many steps can be compared.

    Args:
        run: A run.
        other: Another.
        metric: Name of a metric; subjects are joined, whatever they are called.
        tolerance: Relative difference that is none; 0 asks for the same bits.

    Returns:
        Both counts are of the steps at which both runs have values, since what is sampled is so at other steps in each
        run; None where there is no such step.
    """
    ours, theirs = _by_step(run, metric), _by_step(other, metric)
    shared = sorted(ours.keys() & theirs.keys())
    if not shared:
        return None
    differing = (place for place, step in enumerate(shared) if not _are_equal(ours[step], theirs[step], tolerance))
    return next(differing, len(shared)), len(shared)


def _by_step(run: Run, metric: str) -> dict[int, list[float]]:
    found: dict[int, list[float]] = {}
    for step, value in zip(*run.series(metric), strict=True):
        found.setdefault(step, []).append(value)
    return found


def _are_equal(one: Sequence[float], other: Sequence[float], tolerance: float) -> bool:
    """Return whether values are equal, NaN to NaN included."""
    return len(one) == len(other) and all(
        math.isclose(a, b, rel_tol=tolerance) or (math.isnan(a) and math.isnan(b))
        for a, b in zip(one, other, strict=True)
    )


def _scatter(values: NDArray[np.float64]) -> float:
    """Return the standard deviation of neighbours, from the median of their differences and without their trend."""
    if len(values) < LEAST_VALUES:
        return math.nan
    steps = np.asarray([after - before for before, after in pairwise(values.tolist())])
    return DEVIATION * float(np.median(np.abs(steps - np.median(steps)))) / math.sqrt(2)
