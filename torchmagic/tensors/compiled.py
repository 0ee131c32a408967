"""This file is the one pass over a large float32 tensor as compiled code, where ``numba`` (the extra ``fast``) is."""

import sys
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

# A block of 256 KiB is still in a core's cache should it need a second look.
BLOCK = 1 << 16
# Compiling takes a second, loading numba a third of one: below this NumPy is done sooner; also what is compiled has a
# fixed cost.
FIRST_USE, LATER_USE, NEXT_USE = 1 << 27, 1 << 22, 1 << 17
# Columns of a row of results.
TOP, DEEP, NEAR, ZERO, SMALL, NEGATIVE, TOTAL, SQUARES = range(8)
NUM_COLUMNS = 8

Scan = Callable[[NDArray[Any], NDArray[Any], float, NDArray[Any]], None]

_MAGNITUDE = np.int32(0x7FFFFFFF)  # all bits of a float32 but its sign
_NORMAL = np.int32(0x00800000)  # bits of the least normal number
_SIGN = 1 << 31


def scan_for(values: torch.Tensor) -> Scan | None:
    """Return the compiled pass for these values, or None where NumPy does as well.

    The pass takes the values' bits as int32, the values, a number near them, and an empty float64 array with a row for
    each ``BLOCK`` of them. It fills in the greatest bits with and without regard to their sign and the least without
    their sign (see ``ends``), how many values are zero, smaller in magnitude than the least normal number (zeros too),
    and below zero, and the sum and the sum of squares of what the values are more than the number.

    Args:
        values: A contiguous tensor.
    """
    if values.dtype != torch.float32 or values.device.type != "cpu" or values.is_neg():
        return None
    return _compiled() if values.numel() >= _enough() and _is_there() else None


def ends(rows: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the least and the greatest value of each row, -inf to inf, or NaN where there is one.

    Bits of floats without their sign rise as magnitudes do, so the greatest of all bits belong to the lowest negative
    value, where there is one, and the greatest of those read as signed integers to the highest other value.
    """
    top, deep, near = (rows[:, column].astype(np.int64) for column in (TOP, DEEP, NEAR))
    lows = np.where(deep >= _SIGN, deep, near)
    highs = np.where(top >= 0, top, near | _SIGN)
    return _value(lows), _value(highs)


def _value(bits: NDArray[np.int64]) -> NDArray[np.float64]:
    with np.errstate(invalid="ignore"):  # a NaN that signals
        return bits.astype(np.uint32).view(np.float32).astype(np.float64)


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

    magnitude, normal, none, shift_sign = _MAGNITUDE, _NORMAL, np.int32(0), np.int32(31)
    least, most, int32, uint32 = np.int32(-_SIGN), np.uint32(2 * _SIGN - 1), np.int32, np.uint32

    # Every number is told to stay 32 bits wide: twice as many go into one instruction.
    def block(bits: Any, values: Any, shift: Any, row: Any) -> None:
        top, deep, near, negative = least, uint32(0), most, none
        total, squares = 0.0, 0.0
        for i in range(values.size):
            signed = int32(bits[i])
            plain, size = uint32(signed), uint32(int32(signed & magnitude))
            top = max(top, signed)
            deep = max(deep, plain)
            near = min(near, size)
            negative = int32(negative - int32(signed >> shift_sign))
            value = np.float64(values[i]) - shift
            total += value
            squares += value * value
        row[0], row[1], row[2], row[5], row[6], row[7] = top, deep, near, negative, total, squares
        row[3], row[4] = 0, 0
        if near < normal:
            tiny(bits, row)

    def count(bits: Any, row: Any) -> None:
        zero, small, negative = none, none, none
        for i in range(bits.size):
            signed = int32(bits[i])
            size = int32(signed & magnitude)
            zero = int32(zero + int32(size == none))
            small = int32(small + int32(size < normal))
            negative = int32(negative + int32((signed < none) & (size > none)))
        row[3], row[4], row[5] = zero, small, negative

    # Sums may run in parallel lanes; NaN and infinities keep their meaning.
    options: dict[str, Any] = {"nogil": True, "fastmath": {"reassoc", "nsz", "contract"}, "error_model": "numpy"}
    tiny, each = njit(**options)(count), njit(**options)(block)

    def scan(bits: Any, values: Any, shift: Any, rows: Any) -> None:
        for i in range(rows.shape[0]):
            each(bits[i * BLOCK : (i + 1) * BLOCK], values[i * BLOCK : (i + 1) * BLOCK], shift, rows[i])

    compiled: Scan = njit(**options)(scan)
    return compiled
