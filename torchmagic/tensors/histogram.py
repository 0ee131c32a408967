"""This file is a histogram that is filled piece by piece."""

import math

import numpy as np
from numpy.typing import NDArray

from torchmagic.records.tensor import Histogram

# Enough to see two humps and tails; more bars than a notebook column can draw tell nothing.
NUM_BINS = 64
# Few values in many bins show nothing but gaps: twice the square root of their number, and not fewer than this.
MIN_BINS = 4


class Bins:
    """Equal bins from the smallest to the largest value; one bin a number for whole numbers of a small range.

    Args:
        low: Smallest finite value.
        high: Largest finite value, above ``low``.
        num_values: How many values there will be, about.
        whole: Whether the values are whole numbers.
        scale: Power of two that the counted values are multiplied with (against overflow).
        weight: How often each counted value stands in the tensor.
        by_ratio: Whether edges rise by a factor; values are then above zero and not scaled.
    """

    def __init__(
        self,
        low: float,
        high: float,
        *,
        num_values: int,
        whole: bool,
        scale: float = 1.0,
        weight: int = 1,
        by_ratio: bool = False,
    ) -> None:
        each_number = whole and high - low < NUM_BINS
        self._num_bins = int(high - low) + 1 if each_number else suitable_bins(num_values)
        margin = 0.5 if each_number else 0.0
        self._low, self._high = low - margin, high + margin
        self._by_ratio = by_ratio
        if by_ratio:
            self._low, self._high = math.log(low), math.log(high)
        self._start = self._low * scale
        self._width = self._high * scale - self._start
        self._weight = weight
        self._counts = [0] * self._num_bins
        self._edges = _edges(self._low, self._high, self._num_bins, by_ratio=by_ratio)

    def nothing(self) -> NDArray[np.int64]:
        """A zero for each bin."""
        return np.zeros(self._num_bins, dtype=np.int64)

    def counted(self, values: NDArray[np.float64]) -> NDArray[np.int64]:
        """How many of scaled finite values (1-d) fall into each bin; uses their memory up."""
        shares = np.log(values, out=values) if self._by_ratio else values
        shares -= self._start
        shares /= self._width
        shares *= self._num_bins
        places = np.clip(shares.astype(np.int64), 0, self._num_bins - 1)
        return np.bincount(places, minlength=self._num_bins)

    def counted_in_order(self, values: NDArray[np.float64]) -> NDArray[np.int64]:
        """How many of finite values (1-d, rising, not scaled) fall into each bin."""
        below: NDArray[np.int64] = np.array([0, *np.searchsorted(values, self._edges[1:-1]), len(values)])
        return below[1:] - below[:-1]

    def add(self, counts: NDArray[np.int64]) -> None:
        """Take in what was counted."""
        self._counts = [old + self._weight * new for old, new in zip(self._counts, counts.tolist(), strict=True)]

    def record(self, *, num_sampled: int = 0) -> Histogram:
        """The counts so far; ``num_sampled`` says that they come from a sample of so many values."""
        counts = tuple(self._counts)
        return Histogram(edges=self._edges, counts=counts, num_sampled=num_sampled, by_ratio=self._by_ratio)


def _edges(low: float, high: float, num_bins: int, *, by_ratio: bool) -> tuple[float, ...]:
    shares = [place / num_bins for place in range(num_bins + 1)]
    # Two products, because high - low overflows where both are near the largest float64 of either sign.
    edges = tuple([low * (1 - share) + high * share for share in shares])
    return tuple(map(math.exp, edges)) if by_ratio else edges


def suitable_bins(num_values: int) -> int:
    """Return how many bins show so many values well."""
    return min(NUM_BINS, max(MIN_BINS, 2 * math.isqrt(num_values)))


def scale_for(abs_max: float) -> float:
    """The power of two that brings values near 1, where their squares would overflow or vanish; 1.0 elsewhere."""
    exponent = math.frexp(abs_max)[1]
    # Squares of 2**±450 and sums of 2**63 of them stay well inside float64's 2**±1022.
    if abs_max == 0 or abs(exponent) < 450:  # noqa: PLR2004 - the reason stands above
        return 1.0
    return 2.0 ** -max(-1000, min(1000, exponent))
