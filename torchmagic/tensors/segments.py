"""This file is what the segments of an array add up to, in single precision where its digits are enough."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from torchmagic.tensors.exact import GREATEST_PEAK, LEAST_PEAK
from torchmagic.tensors.glance import LEAST_REST
from torchmagic.tensors.packing import LEAST_SQUARES, Packing

# What ``LEAST_REST`` is where all is in double precision.
LEAST_DOUBLE_REST = 1e-9

Numbers = NDArray[np.float64]


class Segments(NamedTuple):
    """One number for each segment.

    Args:
        counts: How many values it has.
        totals: Their sum.
        squares: The sum of their squares.
        rests: The same of what they are more than their mean.
        lows: The least one.
        highs: The greatest one.
        filled: How many are not zero.
        unsure: 1 where these numbers are not to be relied on, as a value or the square of one is not finite; else 0.
    """

    counts: Numbers
    totals: Numbers
    squares: Numbers
    rests: Numbers
    lows: Numbers
    highs: Numbers
    filled: Numbers
    unsure: Numbers


def segments_of(packing: Packing, packed: NDArray[np.floating]) -> Segments:
    """Return what the segments of an array add up to.

    Args:
        packing: Where they lie.
        packed: The array, of single or double precision; it is left as it is.
    """
    with np.errstate(all="ignore"):  # what overflows or is not a number makes the segment unsure
        found = _sums(packing, packed)
        again = np.flatnonzero(found[-1])
        if len(again) and packed.dtype != np.float64:
            few = packing.counts[again].tolist()
            parts = [packed[start : start + count] for start, count in zip(packing.starts[again], few, strict=True)]
            found[:, again] = _sums(Packing(tuple(few)), np.concatenate(parts).astype(np.float64))
    return Segments(*found)


def _sums(packing: Packing, packed: NDArray[np.floating]) -> NDArray[np.float64]:
    """Return the same as the rows of a matrix, by the kernels of one precision."""
    starts, is_double = packing.starts, packed.dtype == np.float64
    found = np.empty((len(Segments._fields), len(starts)))
    counts, totals, squares, rests, lows, highs, filled, unsure = found
    counts[:] = packing.counts
    totals[:] = np.add.reduceat(packed, starts)
    squares[:] = np.add.reduceat(np.square(packed), starts)
    lows[:], highs[:] = np.minimum.reduceat(packed, starts), np.maximum.reduceat(packed, starts)
    there = packed != 0
    filled[:] = counts if there.all() else packing.numbers(there)
    rests[:] = squares - totals * (totals / counts)
    constant = lows == highs
    if constant.any():
        rests[constant], squares[constant] = 0.0, (counts * lows * lows)[constant]
    in_range = (squares > LEAST_PEAK**2) & (squares < GREATEST_PEAK**2)
    least, low = (LEAST_DOUBLE_REST, 0.0) if is_double else (LEAST_REST, LEAST_SQUARES)
    sure = in_range & (constant | (rests > np.maximum(least * squares, low)))
    unsure[:] = ~(sure | (constant & (lows == 0)))
    return found
