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
# Compiling takes a second, loading numba a third of one: below this torch's own operators are done sooner.
FIRST_USE, LATER_USE = 1 << 27, 1 << 22
# Columns of a row of results.
LOW, HIGH, ZERO, SMALL, NEGATIVE, TOTAL, SQUARES = range(7)
NUM_COLUMNS = 7

Scan = Callable[[NDArray[Any], NDArray[Any], float, NDArray[Any]], None]

_MAGNITUDE = np.int32(0x7FFFFFFF)  # all bits of a float32 but its sign
_NORMAL = np.int32(0x00800000)  # bits of the least normal number


def scan_for(values: torch.Tensor) -> Scan | None:
    """Return the compiled pass for these values, or None where torch's operators do as well.

    The pass takes the values' bits as int32, the values, a number near them, and an empty float64 array with a row for
    each ``BLOCK`` of them. It fills in the least and the greatest key (see ``key_to_value``), how many values are zero,
    smaller in magnitude than the least normal number (zeros too), and below zero, and the sum and the sum of squares
    of what the values are more than the number.

    Args:
        values: A contiguous tensor.
    """
    if values.dtype != torch.float32 or values.device.type != "cpu" or values.is_neg():
        return None
    enough = LATER_USE if "numba" in sys.modules else FIRST_USE
    return _compiled() if values.numel() >= enough and _is_there() else None


def key_to_value(keys: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the float32 values of keys: integers that rise as the values do, from -inf to inf, NaN beyond them."""
    whole = keys.astype(np.int32)
    values: NDArray[np.float64] = (whole ^ ((whole >> 31) & _MAGNITUDE)).view(np.float32).astype(np.float64)
    return values


@cache
def _is_there() -> bool:
    return find_spec("numba") is not None


@cache
def _compiled() -> Scan:
    from numba import njit  # noqa: PLC0415 - an extra

    magnitude, normal, none, sign = _MAGNITUDE, _NORMAL, np.int32(0), np.int32(31)
    before_zero, least = np.int32(-1), np.int32(-0x80000000)  # the key of -0.0, and the least key

    def block(bits: Any, values: Any, shift: Any, row: Any) -> None:
        low, high, zero, small, negative = magnitude, least, none, none, none
        total, squares = 0.0, 0.0
        for i in range(values.size):
            size = bits[i] & magnitude
            key = bits[i] ^ ((bits[i] >> sign) & magnitude)
            low, high = min(low, key), max(high, key)
            zero += np.int32(size == none)
            small += np.int32(size < normal)
            negative += np.int32(key < before_zero)
            value = np.float64(values[i]) - shift
            total += value
            squares += value * value
        row[0], row[1], row[2], row[3], row[4], row[5], row[6] = low, high, zero, small, negative, total, squares

    # Sums may run in parallel lanes; NaN and infinities keep their meaning.
    options: dict[str, Any] = {"nogil": True, "fastmath": {"reassoc", "nsz", "contract"}, "error_model": "numpy"}
    each = njit(**options)(block)

    def scan(bits: Any, values: Any, shift: Any, rows: Any) -> None:
        for i in range(rows.shape[0]):
            each(bits[i * BLOCK : (i + 1) * BLOCK], values[i * BLOCK : (i + 1) * BLOCK], shift, rows[i])

    compiled: Scan = njit(**options)(scan)
    return compiled
