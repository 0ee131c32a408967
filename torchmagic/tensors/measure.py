"""This file is the statistics of one tensor's values, in bounded memory and with float64 accuracy."""

import math
from dataclasses import replace

import torch

from torchmagic.records.tensor import Histogram, Statistics
from torchmagic.tensors.joining import Whole, joined
from torchmagic.tensors.places import first_nonfinite
from torchmagic.tensors.scan import scanned
from torchmagic.tensors.spread import spread_of


def measure(
    values: torch.Tensor, *, repeat: int = 1, full: bool = False, hist: bool = False, spread: bool = True
) -> tuple[Statistics, Histogram | None]:
    """Measure values without changing or copying them as a whole.

    Args:
        values: A dense tensor of any shape, dtype, device and strides, without gradient; complex numbers are
            measured by their magnitudes.
        repeat: How often each value counts (an expanded tensor stores fewer values than it shows).
        full: Whether quantiles and histogram are of all values, however many there are; otherwise of a sample where
            there are more than ``SAMPLE_SIZE`` (``EXACT_HISTOGRAM``).
        hist: Whether the histogram is of all values.
        spread: Whether quantiles, histogram and the number of different values are wanted; they take most of the time.

    Returns:
        The statistics, and the histogram where there are two different finite values.

    Raises:
        RuntimeError: If torch cannot read the values (meta and fake tensors, packed dtypes).
    """
    found = scanned(values)
    num_nonfinite = found.num_nan + found.num_posinf + found.num_neginf
    counts = Statistics(
        num_values=values.numel() * repeat,
        num_nan=found.num_nan * repeat,
        num_posinf=found.num_posinf * repeat,
        num_neginf=found.num_neginf * repeat,
        num_zero=sum(part.num_zero for part in found.parts) * repeat,
        num_negative=sum(part.num_negative for part in found.parts) * repeat,
        num_subnormal=sum(part.num_subnormal for part in found.parts) * repeat,
        nonfinite_at=first_nonfinite(values, found.dirty) if num_nonfinite else (),
    )
    if not found.parts:
        return counts, None
    whole = joined(found.parts)
    if not spread:
        return _with_moments(counts, whole), None
    return _finite_part(values, whole, counts, repeat, full=full, hist=hist)


def _finite_part(
    values: torch.Tensor, whole: Whole, counts: Statistics, repeat: int, *, full: bool, hist: bool
) -> tuple[Statistics, Histogram | None]:
    low, high = whole.low, whole.high
    is_integer = not (values.is_floating_point() or values.is_complex())
    spread = spread_of(values, low, high, full=full, hist=hist, is_integer=is_integer, repeat=repeat)
    statistics = replace(
        _with_moments(counts, whole),
        num_distinct=spread.num_distinct,
        quantiles=spread.quantiles,
        num_sampled=spread.num_sampled,
    )
    return statistics, spread.histogram


def _with_moments(counts: Statistics, whole: Whole) -> Statistics:
    num_finite = counts.num_finite
    return replace(
        counts,
        min=whole.low,
        max=whole.high,
        mean=whole.mean,
        std=whole.std * math.sqrt(num_finite / (num_finite - 1)) if num_finite > 1 else None,
        abs_max=max(abs(whole.low), abs(whole.high)),
        l2=whole.rms * math.sqrt(num_finite),
    )
