"""This file is how a tensor's values are spread: quantiles, histogram and how many different ones there are."""

import math
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from torchmagic.records.tensor import Histogram
from torchmagic.tensors.chunks import as_numbers
from torchmagic.tensors.cores import Walk, on_all_cores
from torchmagic.tensors.distinct import num_different
from torchmagic.tensors.histogram import NUM_BINS, Bins, scale_for
from torchmagic.tensors.ranks import exact_quantiles
from torchmagic.tensors.sample import SAMPLE_SIZE, quantiles, sorted_sample

# Beyond this a histogram of all values would cost more than everything else together; a sample stands for them.
EXACT_HISTOGRAM = 1 << 15
# Of positive values: ends that far apart, with half of all in this part of the range, are binned by ratio.
LEAST_RATIO, HALF_WITHIN = 1e3, 32


class Spread(NamedTuple):
    """``num_sampled`` is 0 where the quantiles are of all values; the histogram says so of itself."""

    quantiles: tuple[tuple[float, float], ...]
    num_sampled: int
    histogram: Histogram | None
    num_distinct: int | None


def spread_of(
    values: torch.Tensor, low: float, high: float, *, full: bool, hist: bool, is_integer: bool, repeat: int
) -> Spread:
    """Return how values are spread.

    Args:
        values: A dense tensor of any shape and strides, without gradient, with a finite value.
        low: Their least finite value.
        high: Their greatest one.
        full: Whether all values are looked at, however many there are.
        hist: Whether the histogram counts all of them.
        is_integer: Whether they are whole numbers or truth values.
        repeat: How often each counts in the histogram.
    """
    num_values = values.numel()
    counted = full or hist or num_values <= EXACT_HISTOGRAM
    ordered = sorted_sample(values)
    bins = None
    if high > low and (not is_integer or high - low > NUM_BINS * math.ulp(max(abs(low), abs(high)))):
        by_ratio = not is_integer and _is_skewed(ordered, low, high)
        scale = 1.0 if by_ratio else scale_for(max(abs(low), abs(high)))
        bins = Bins(low, high, num_values=num_values, whole=is_integer, scale=scale, weight=repeat, by_ratio=by_ratio)
    sampled = 0 if num_values <= SAMPLE_SIZE else SAMPLE_SIZE
    if bins is not None and counted and sampled:
        _fill(bins, values, scale)
    elif bins is not None:
        bins.add(bins.counted_in_order(ordered))
    found = quantiles(ordered)
    if sampled and full:
        found, sampled = exact_quantiles(values, low, high), 0
    num_distinct = (num_different(values, int(low), int(high)) if high > low else 1) if is_integer else None
    record = bins.record(num_sampled=0 if counted else len(ordered)) if bins is not None else None
    return Spread(found, sampled, record, num_distinct)


def _is_skewed(ordered: NDArray[np.float64], low: float, high: float) -> bool:
    """Whether half of all values would fall into the first two of equal bins."""
    if low <= 0 or not len(ordered):
        return False
    return bool(high / low > LEAST_RATIO and ordered[len(ordered) // 2] - low < (high - low) / HALF_WITHIN)


def _fill(bins: Bins, values: torch.Tensor, scale: float) -> None:
    def counted(walk: Walk) -> NDArray[np.int64]:
        total = bins.nothing()
        with np.errstate(all="ignore"):  # a sum may overflow; NaN and infinities are left out
            for _, piece in walk:
                numbers = as_numbers(piece.to("cpu")).resolve_neg().numpy()
                work = numbers.astype(np.float64)
                if scale != 1.0:
                    work *= scale
                total += bins.counted(work if math.isfinite(work.sum()) else work[np.isfinite(work)])
        return total

    for each in on_all_cores(values, counted):
        bins.add(each)
