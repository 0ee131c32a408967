"""This file is the statistics of one tensor's values, in bounded memory and with float64 accuracy."""

import math
from dataclasses import replace
from typing import Any

import torch

from torchmagic.records.tensor import Histogram, Statistics
from torchmagic.tensors.joining import Whole, joined
from torchmagic.tensors.near import brought_near
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
    values = brought_near(values)
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
    told = _moments(whole, counts.num_finite)
    if not spread:
        return replace(counts, **told), None
    is_integer = not (values.is_floating_point() or values.is_complex())
    seen = spread_of(values, whole.low, whole.high, full=full, hist=hist, is_integer=is_integer, repeat=repeat)
    told |= {"num_distinct": seen.num_distinct, "quantiles": seen.quantiles, "num_sampled": seen.num_sampled}
    return replace(counts, **told), seen.histogram


def _moments(whole: Whole, num_finite: int) -> dict[str, Any]:
    return {
        "min": whole.low,
        "max": whole.high,
        "mean": whole.mean,
        "std": whole.std * math.sqrt(num_finite / (num_finite - 1)) if num_finite > 1 else None,
        "abs_max": max(abs(whole.low), abs(whole.high)),
        "l2": whole.rms * math.sqrt(num_finite),
    }
