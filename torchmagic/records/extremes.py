"""This file is the extremes: the least or the greatest value of each column of a series, and where it was."""

import math
from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

# A step and a value for each column; the step is -1 and the value NaN where a column has none.
Points = tuple[Sequence[int], Sequence[float]]


class Extremes(NamedTuple):
    """One step and one value for each column."""

    steps: NDArray[np.int64]
    values: NDArray[np.float64]

    @classmethod
    def of(cls, steps: Sequence[int], values: Sequence[float], *, width: int) -> Self:
        """Return those that ``points`` gave.

        Raises:
            ValueError: If they are of another number of columns.
        """
        extremes = cls(np.asarray(steps, dtype=np.int64), np.asarray(values, dtype=np.float64))
        if not extremes.steps.shape == extremes.values.shape == (width,):
            raise ValueError(f"extremes of {len(steps)} and {len(values)} columns where {width} are wanted")
        return extremes

    def at(self, column: int) -> tuple[int, float]:
        """Return step and value of one column."""
        return int(self.steps[column]), float(self.values[column])

    def points(self) -> Points:
        """Return all steps and all values."""
        return self.steps.tolist(), self.values.tolist()


def extremes_of(steps: NDArray[np.int64], values: NDArray[np.floating], *, sign: float) -> Extremes:
    """Return the least (sign 1) or greatest (sign -1) value of each column of rows; NaN is none."""
    missing = np.isnan(values)
    where = np.where(missing, math.inf, sign * values).argmin(axis=0)
    columns = np.arange(values.shape[1])
    return Extremes(np.where(missing[where, columns], -1, steps[where]), values[where, columns].astype(np.float64))


def better(known: Extremes | None, fresh: Extremes, *, sign: float) -> Extremes:
    """Return of each column the lesser (sign 1) or greater (sign -1) of two."""
    if known is None:
        return fresh
    better = (known.steps < 0) | (sign * fresh.values < sign * known.values)
    return Extremes(np.where(better, fresh.steps, known.steps), np.where(better, fresh.values, known.values))
