"""This file is how the moments of pieces are joined to those of the whole, without overflow or cancellation."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from torchmagic.tensors.histogram import scale_for
from torchmagic.tensors.parts import Part


class Whole(NamedTuple):
    """Ends, mean, deviation (divisor n) and root of the mean square of all finite values."""

    low: float
    high: float
    mean: float
    std: float
    rms: float


def joined(parts: Sequence[Part]) -> Whole:
    """Return the moments of all parts together.

    Args:
        parts: At least one.
    """
    low, high = min(part.low for part in parts), max(part.high for part in parts)
    nums = np.array([part.num for part in parts], dtype=np.float64)
    total = float(nums.sum())
    scale = scale_for(max(abs(low), abs(high)))
    base = low if any(part.above is not None for part in parts) else 0
    means = np.array([_mean(part, base) for part in parts], dtype=np.float64) * scale
    deviations = np.array([part.std for part in parts], dtype=np.float64) * scale
    mean = math.fsum(nums * means) / total
    variance = math.fsum(nums * (deviations**2 + (means - mean) ** 2)) / total
    mean += base
    # Rounding may push the mean of equal values past them by one unit in the last place.
    return Whole(
        low=low,
        high=high,
        mean=float(min(max(mean / scale, low), high)),
        std=math.sqrt(variance) / scale,
        rms=math.sqrt(variance + mean**2) / scale,
    )


def _mean(part: Part, base: float) -> float:
    """A part's mean, as what it is above a whole number."""
    return part.mean - base if part.above is None else (part.low - base) + part.above
