"""This file is the one pass over a large float32 tensor as compiled code, where ``numba`` (the extra ``fast``) is."""

import sys
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from torchmagic.tensors.vectors import LANES, vector_walk

# A block of 256 KiB is still in a core's cache should it need a second look.
BLOCK = 1 << 16
# Loading numba takes half a second and compiling one and a half: for large values only, which are seldom looked at just
# once. What is compiled has a fixed cost: below the last NumPy is done sooner.
FIRST_USE, LATER_USE, NEXT_USE = 1 << 27, 1 << 22, 1 << 17
# Columns of a row of results.
LOW, HIGH, NEAR, ZERO, SMALL, NEGATIVE, TOTAL, SQUARES = range(8)
NUM_COLUMNS = 8

Scan = Callable[[NDArray[Any], float, NDArray[Any]], None]

_NORMAL = np.finfo(np.float32).smallest_normal


def scan_for(values: torch.Tensor) -> Scan | None:
    """Return the compiled pass for these values, or None where NumPy does as well.

    The pass takes the values, a number near them, and an empty float64 array with a row for each ``BLOCK`` of them. It
    fills in the least and the greatest value and the least magnitude, how many values are zero, smaller in magnitude
    than the least normal number (zeros too), and below zero, and the sum and the sum of squares of what the values are
    more than the number. Of a block with a value that is not finite the sum of squares is not finite either, and the
    rest of its row means nothing.

    Args:
        values: A contiguous tensor.
    """
    if values.dtype != torch.float32 or values.device.type != "cpu" or values.is_neg():
        return None
    return _compiled() if values.numel() >= _enough() and _is_there() else None


def _enough() -> int:
    if _compiled.cache_info().currsize:
        return NEXT_USE
    return LATER_USE if "numba" in sys.modules else FIRST_USE


@cache
def _is_there() -> bool:
    return find_spec("numba") is not None


@cache
def _compiled() -> Scan:
    from numba import njit  # noqa: PLC0415 - an extra

    walk, normal, int32, none = vector_walk(), _NORMAL, np.int32, np.int32(0)

    def block(values: Any, shift: Any, row: Any) -> None:
        low, high, near, negative, total, squares = walk(values, shift)
        for i in range(values.size - values.size % LANES, values.size):
            value, rest = values[i], values[i] - shift
            low, high, near = min(low, value), max(high, value), min(near, abs(value))
            negative += value < 0
            total += rest
            squares += rest * rest
        row[0], row[1], row[2], row[5], row[6], row[7] = low, high, near, negative, total, squares
        row[3], row[4] = 0, 0
        if near < normal:
            tiny(values, row)

    # Counters as wide as the values: twice as many go into one instruction.
    def count(values: Any, row: Any) -> None:
        zero, small, negative = none, none, none
        for i in range(values.size):
            value = values[i]
            zero = int32(zero + int32(value == 0))
            small = int32(small + int32(abs(value) < normal))
            negative = int32(negative + int32(value < 0))
        row[3], row[4], row[5] = zero, small, negative

    options: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
    tiny, each = njit(**options)(count), njit(**options)(block)

    def scan(values: Any, shift: Any, rows: Any) -> None:
        for i in range(rows.shape[0]):
            each(values[i * BLOCK : (i + 1) * BLOCK], shift, rows[i])

    compiled: Scan = njit(**options)(scan)
    return compiled
