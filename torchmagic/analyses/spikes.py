"""This file is the spikes of a loss: values far outside of what those before them were like."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from torchmagic.session.run import Run

# A spike exceeds the median of the steps before by this many of their mean deviations, and by this factor.
MIN_DEVIATIONS = 20.0
MIN_TIMES = 3.0
# Steps before a spike that make its baseline.
WINDOW = 20
# A loss that has come down to nothing may jump about: below this share of the first one no jump counts.
LEAST_OF_FIRST = 0.1


class Spikes(NamedTuple):
    """One entry for each value from the ``WINDOW``-th on.

    Args:
        is_high: Whether it is a spike.
        level: Median of the values before it.
        spread: Their mean deviation from that, as it is for batches of the value's own size.
    """

    is_high: NDArray[np.bool_]
    level: NDArray[np.float64]
    spread: NDArray[np.float64]


def spikes(
    values: NDArray[np.float64],
    first: float,
    *,
    rows: NDArray[np.float64] | None = None,
    min_deviations: float = MIN_DEVIATIONS,
    min_times: float = MIN_TIMES,
) -> Spikes:
    """Find the spikes of a loss.

    Args:
        values: Finite losses in order, more than ``WINDOW``.
        first: The first loss of the training.
        rows: Over how many samples each was taken, where that is known: means of fewer lie further apart.
        min_deviations: Mean deviations that a spike is above the median.
        min_times: Times the median that it is.
    """
    windows = np.lib.stride_tricks.sliding_window_view(values[:-1], WINDOW)
    level = np.median(windows, axis=1)
    spread = np.abs(windows - level[:, None]).mean(axis=1)
    if rows is not None:
        usual = np.median(np.lib.stride_tricks.sliding_window_view(rows[:-1], WINDOW), axis=1)
        spread = spread * np.sqrt(np.maximum(usual / rows[WINDOW:], 1.0))
    after = values[WINDOW:]
    far = (after > level + min_deviations * spread) & (after > min_times * level)
    return Spikes(far & (level > 0) & (after > LEAST_OF_FIRST * abs(first)), level, spread)


def rows_at(run: Run, loss: str, steps: Sequence[int]) -> NDArray[np.float64] | None:
    """Return over how many samples a loss was taken at each of some steps; None where that is not known."""
    changed, counts = run.series("loss_rows", name=loss)
    if not changed or changed[0] > steps[0]:
        return None
    return np.asarray(counts, dtype=float)[np.searchsorted(changed, steps, side="right") - 1]
