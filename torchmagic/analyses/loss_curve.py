"""This file is the loss curve: a run's training loss, smoothed against the noise of mini-batches."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from torchmagic.session.run import Run

# The curve is averaged over this share of its values: one batch alone may be a lucky one.
SHARE = 0.07
LEAST_WIDTH = 3
# A loss that still falls: a straight line through it falls by so many of its standard errors, the mean from the third
# to the last quarter by this share of the level, and of the fall from the first to the second. What settles falls less.
SURE, LEAST_FALL, KEPT_UP = 4.0, 1e-3, 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class LossCurve:
    """The finite part of a training loss.

    Args:
        values: One value a backward.
        smooth: Means over windows of ``width`` values.
        width: Values in a window.
        broken: Whether a value was not finite.
    """

    values: NDArray[np.float64]
    smooth: NDArray[np.float64]
    width: int
    broken: bool

    @property
    def start(self) -> float:
        """The first smoothed value."""
        return float(self.smooth[0])

    @property
    def end(self) -> float:
        """The last smoothed value."""
        return float(self.smooth[-1])

    @property
    def error_of_mean(self) -> float:
        """Standard error of a smoothed value, from the differences of neighbours."""
        if len(self.values) < 2:  # noqa: PLR2004 - a difference needs two
            return 0.0
        return float(np.std(np.diff(self.values)) / math.sqrt(2 * self.width))

    def still_falls(self, *, pace: float = KEPT_UP) -> bool:
        """Whether the loss surely comes down, and its fall does not die away.

        Args:
            pace: Least share of the fall over the first half that there is over the second. What is only learned by
                heart loses some of its pace, and what has settled nearly all of it.
        """
        count, quarter = len(self.values), len(self.values) // 4
        if not quarter:
            return False
        one, two, three, four = (float(part.mean()) for part in self.values[: 4 * quarter].reshape(4, quarter))
        fall = -float(np.polyfit(np.linspace(-0.5, 0.5, count), self.values, 1)[0])
        error = self.error_of_mean * math.sqrt(12 * self.width / count)  # of the fall: 12 is that of an even spread
        return fall > SURE * error and three - four > max(LEAST_FALL * abs(three), pace * (one - two))


def loss_curve(run: Run, name: str) -> LossCurve | None:
    """Return the curve of the loss of this name; None where fewer than two values are finite."""
    _, raw = run.series("loss", name=name)
    every = np.asarray(raw, dtype=np.float64)
    bad = np.flatnonzero(~np.isfinite(every))
    values = every[: bad[0]] if len(bad) else every
    if len(values) < 2:  # noqa: PLR2004 - an end and a beginning
        return None
    width = min(max(LEAST_WIDTH, round(SHARE * len(values))), len(values))
    sums = np.concatenate([[0.0], np.cumsum(values)])
    smooth = (sums[width:] - sums[:-width]) / width
    return LossCurve(values=values, smooth=smooth, width=width, broken=bool(len(bad)))
