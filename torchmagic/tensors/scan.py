"""This file is the one pass over a tensor's values: counts, ends and moments of each piece, on all cores."""

import math
from collections.abc import Iterable
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from torchmagic.tensors import cores
from torchmagic.tensors.chunks import as_numbers
from torchmagic.tensors.compiled import (
    BLOCK,
    HIGH,
    LOW,
    NEGATIVE,
    NUM_COLUMNS,
    SMALL,
    SQUARES,
    TOTAL,
    ZERO,
    Scan,
    scan_for,
)
from torchmagic.tensors.cores import Walk, on_all_cores, on_ranges
from torchmagic.tensors.exact import LEAST_PEAK
from torchmagic.tensors.histogram import scale_for
from torchmagic.tensors.parts import Found, Part
from torchmagic.tensors.scan_device import scanned_on_device

# Below this share of the sum of squares the variance has lost four of a float64's sixteen digits: once more.
LEAST_REST = 1e-4
# From so many values on BLAS wakes threads for a sum of squares, and those of compiled code are worth waking.
MANY, LEAST_SCANNED = 10_000, 1 << 22
# Beyond this a float64 does not hold every whole number.
EXACT = 1 << 53
_NATIVE = torch.float32, torch.float64


def scanned(values: torch.Tensor) -> Found:
    """Walk all values once.

    Args:
        values: A dense tensor of any shape, dtype, device and strides, without gradient.

    Raises:
        RuntimeError: If torch cannot read the values.
    """
    tiny = float(torch.finfo(values.dtype).smallest_normal) if values.is_floating_point() else 0.0
    if values.device.type == "cuda":
        found = scanned_on_device(values, tiny)
        if values.dtype != torch.int64 or not any(_is_wide(part.low, part.high) for part in found.parts):
            return found  # else the host, part by part: what the device adds up is float64
    scan = scan_for(values) if values.is_contiguous() else None
    if scan is not None:
        stretches = on_ranges(values.numpy().reshape(-1), partial(_scan, tiny=tiny, scan=scan), least=LEAST_SCANNED)
    elif values.is_cpu and values.dtype in _NATIVE and values.is_contiguous() and not values.is_neg():
        stretches = on_ranges(values.numpy().reshape(-1), partial(_look_along, tiny=tiny))
    else:
        stretches = on_all_cores(values, lambda walk: _walk(walk, tiny))
    found = stretches[0]
    for stretch in stretches[1:]:
        found.add(stretch)
    return found


def _look_along(flat: NDArray[Any], begin: int, tiny: float) -> Found:
    found = Found()
    with np.errstate(all="ignore"):  # what overflows or is not a number gets a closer look
        for first in range(0, len(flat), cores.LONG_PIECE):
            _look(found, flat[first : first + cores.LONG_PIECE], begin + first, tiny)
    return found


def _walk(walk: Walk, tiny: float) -> Found:
    found = Found()
    with np.errstate(all="ignore"):
        for begin, piece in walk:
            if piece.numel():
                _look(found, as_numbers(piece.to("cpu")).resolve_neg().numpy(), begin, tiny)
    return found


def _look(found: Found, piece: NDArray[Any], begin: int, tiny: float) -> None:
    """Take in one piece; by NumPy, which counts five times as fast as torch and wakes no other threads."""
    low, high = _ends(piece)
    if not (math.isfinite(low) and math.isfinite(high)):
        found.dirty.append(begin)
        found.num_nan += int(np.count_nonzero(np.isnan(piece)))
        found.num_posinf += int(np.count_nonzero(piece == math.inf))
        found.num_neginf += int(np.count_nonzero(piece == -math.inf))
        piece = piece[np.isfinite(piece)]
        if not piece.size:
            return
        low, high = _ends(piece)
    counts = _counts(piece, low, high, tiny)
    if piece.dtype == np.int64 and _is_wide(low, high):
        above, std = _moments_above(piece, int(low))
        found.parts.append(Part(piece.size, low, high, low + above, std, *counts, above=above))
        return
    mean, std = _moments(piece, low, high)
    found.parts.append(Part(piece.size, low, high, mean, std, *counts))


def _ends(piece: NDArray[Any]) -> tuple[float, float]:
    return np.minimum.reduce(piece).item(), np.maximum.reduce(piece).item()


def _counts(piece: NDArray[Any], low: float, high: float, tiny: float) -> tuple[int, int, int]:
    """How many values are zero, negative and subnormal."""
    negative = piece.size if high < 0 else _number(piece < 0) if low < 0 else 0
    if low > 0 or high < 0:
        # Of one sign: the end that is nearer to zero tells whether any value is too small.
        small = _number(np.abs(piece) < tiny) if min(abs(low), abs(high)) < tiny else 0
        return 0, negative, small
    if not tiny:
        return piece.size - _number(piece), negative, 0
    sizes = np.abs(piece)
    if np.minimum.reduce(sizes) >= tiny:
        return 0, negative, 0
    zero = _number(piece == 0)
    return zero, negative, _number(sizes < tiny) - zero


def _number(marks: NDArray[Any]) -> int:
    return int(np.count_nonzero(marks))


def _moments(piece: NDArray[Any], low: float, high: float) -> tuple[float, float]:
    """Mean and deviation (divisor n) of finite values."""
    if low == high:
        return float(low), 0.0
    num = piece.size
    work = piece.astype(np.float64)
    total, squares = np.add.reduce(work).item(), _dot(work)
    rest = squares - total * total / num
    if math.isfinite(squares) and rest > LEAST_REST * squares and squares > LEAST_PEAK:
        return total / num, math.sqrt(rest / num)
    scale = scale_for(max(-low, high))
    if scale != 1.0:
        work *= scale
    mean = np.add.reduce(work).item() / num
    work -= mean
    return mean / scale, math.sqrt(_dot(work) / num) / scale


def _is_wide(low: float, high: float) -> bool:
    return max(-low, high) > EXACT


def _moments_above(piece: NDArray[Any], low: int) -> tuple[float, float]:
    """By how much the mean of whole numbers is above the least of them, and their deviation (divisor n)."""
    rest = piece.view(np.uint64) - np.uint64(low % (1 << 64))  # what wraps round comes back
    work = rest.astype(np.float64)
    above = np.add.reduce(work).item() / work.size
    work -= above
    return above, math.sqrt(_dot(work) / work.size)


def _dot(work: NDArray[np.float64]) -> float:
    """Sum of squares; of many BLAS would wake its threads."""
    return float(work.dot(work)) if work.size < MANY else float(np.einsum("i,i->", work, work))


def _scan(values: NDArray[Any], begin: int, tiny: float, scan: Scan) -> Found:
    rows = np.empty((math.ceil(len(values) / BLOCK), NUM_COLUMNS))
    # Squares of what is left after taking off some value of the tensor cancel less.
    shift = float(values[0]) if math.isfinite(values[0]) else 0.0
    scan(values, shift, rows)
    nums = np.full(len(rows), BLOCK)
    nums[-1] = len(values) - BLOCK * (len(rows) - 1)
    with np.errstate(invalid="ignore"):  # where a value is not finite
        rest = rows[:, SQUARES] - rows[:, TOTAL] ** 2 / nums
        plain = rest > LEAST_REST * rows[:, SQUARES]
    found = _walk_again(values, np.flatnonzero(~plain), begin, tiny)
    if plain.any():
        found.parts.append(_all_of(rows[plain], nums[plain], rest[plain], shift))
    return found


def _all_of(rows: NDArray[np.float64], nums: NDArray[Any], rest: NDArray[np.float64], shift: float) -> Part:
    """Join what the blocks hold; squares of float32 neither overflow nor vanish."""
    num = int(nums.sum())
    offset = math.fsum(rows[:, TOTAL].tolist()) / num
    squares = math.fsum((rest + nums * (rows[:, TOTAL] / nums - offset) ** 2).tolist())
    zero, negative, small = rows[:, (ZERO, NEGATIVE, SMALL)].sum(0).astype(int).tolist()
    low, high = rows[:, LOW].min().item(), rows[:, HIGH].max().item()
    return Part(num, low, high, shift + offset, math.sqrt(squares / num), zero, negative, small - zero)


def _walk_again(values: NDArray[Any], blocks: Iterable[int], begin: int, tiny: float) -> Found:
    """Look closely at blocks with values that are not finite, or nearly equal ones."""
    found = Found()
    for block in blocks:
        first = int(block) * BLOCK
        _look(found, values[first : first + BLOCK], begin + first, tiny)
    return found
