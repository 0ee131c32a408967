"""This file is the one pass over a tensor's values: counts, ends and moments of each piece, on all cores."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import torch

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
    key_to_value,
    scan_for,
)
from torchmagic.tensors.cores import Walk, on_all_cores, on_ranges
from torchmagic.tensors.exact import LEAST_PEAK
from torchmagic.tensors.histogram import scale_for

# Below this share of the sum of squares the variance has lost four of a float64's sixteen digits: once more.
LEAST_REST = 1e-4


class Part(NamedTuple):
    """What one piece's finite values are like; mean and deviation (divisor n) are in the values' own unit."""

    num: int
    low: float
    high: float
    mean: float
    std: float
    num_zero: int = 0
    num_negative: int = 0
    num_subnormal: int = 0


@dataclass(slots=True)
class Found:
    """What a walk found.

    Args:
        parts: One for each piece that has a finite value.
        dirty: First element of each piece that has another one, in the order of the walk.
    """

    parts: list[Part] = field(default_factory=list)
    dirty: list[int] = field(default_factory=list)
    num_nan: int = 0
    num_posinf: int = 0
    num_neginf: int = 0

    def add(self, other: "Found") -> None:
        """Take in what another walk found."""
        self.parts += other.parts
        self.dirty += other.dirty
        self.num_nan += other.num_nan
        self.num_posinf += other.num_posinf
        self.num_neginf += other.num_neginf


def scanned(values: torch.Tensor) -> Found:
    """Walk all values once.

    Args:
        values: A dense tensor of any shape, dtype, device and strides, without gradient.

    Raises:
        RuntimeError: If torch cannot read the values.
    """
    tiny = float(torch.finfo(values.dtype).smallest_normal) if values.is_floating_point() else 0.0
    scan = scan_for(values) if values.is_contiguous() else None
    if scan is None:
        stretches = on_all_cores(values, lambda walk: _walk(walk, tiny))
    else:
        stretches = on_ranges(values.view(-1), lambda flat, begin: _scan(flat, begin, tiny, scan))
    found = Found()
    for stretch in stretches:
        found.add(stretch)
    return found


def _walk(walk: Walk, tiny: float) -> Found:
    found = Found()
    for begin, piece in walk:
        if piece.numel():
            _look(found, as_numbers(piece).resolve_neg(), begin, tiny)
    return found


def _look(found: Found, piece: torch.Tensor, begin: int, tiny: float) -> None:
    low, high = _ends(piece)
    if not (math.isfinite(low) and math.isfinite(high)):
        found.dirty.append(begin)
        found.num_nan += int(torch.count_nonzero(torch.isnan(piece)))
        found.num_posinf += int(torch.count_nonzero(piece == math.inf))
        found.num_neginf += int(torch.count_nonzero(piece == -math.inf))
        piece = piece[torch.isfinite(piece)]
        if not piece.numel():
            return
        low, high = _ends(piece)
    mean, std = _moments(piece, low, high)
    counts = _counts(piece, low, high, tiny)
    found.parts.append(Part(piece.numel(), low, high, mean, std, *counts))


def _counts(piece: torch.Tensor, low: float, high: float, tiny: float) -> tuple[int, int, int]:
    """How many values are zero, negative and subnormal; NumPy counts five times as fast as torch."""
    numbers: Any = piece.numpy() if piece.device.type == "cpu" else piece
    count: Any = np.count_nonzero if piece.device.type == "cpu" else torch.count_nonzero
    negative = len(piece) if high < 0 else int(count(numbers < 0)) if low < 0 else 0
    if low > 0 or high < 0:
        # Of one sign: the end that is nearer to zero tells whether any value is too small.
        small = int(count(abs(numbers) < tiny)) if min(abs(low), abs(high)) < tiny else 0
        return 0, negative, small
    if not tiny:
        return int(count(numbers == 0)), negative, 0
    sizes = abs(numbers)
    if sizes.min().item() >= tiny:
        return 0, negative, 0
    zero = int(count(numbers == 0))
    return zero, negative, int(count(sizes < tiny)) - zero


def _ends(piece: torch.Tensor) -> tuple[float, float]:
    low, high = torch.aminmax(piece)
    return low.item(), high.item()


def _moments(piece: torch.Tensor, low: float, high: float) -> tuple[float, float]:
    """Mean and deviation (divisor n) of finite values."""
    num = piece.numel()
    if low == high:
        return float(low), 0.0
    work = piece.to(torch.float64)
    total, squares = work.sum().item(), torch.dot(work, work).item()
    rest = squares - total * total / num
    if math.isfinite(squares) and rest > LEAST_REST * squares and squares > LEAST_PEAK:
        return total / num, math.sqrt(rest / num)
    scale = scale_for(max(-low, high))
    if scale != 1.0:
        work = work * scale
    mean = work.mean().item()
    work = work - mean
    return mean / scale, math.sqrt(torch.dot(work, work).item() / num) / scale


def _scan(flat: torch.Tensor, begin: int, tiny: float, scan: Scan) -> Found:
    values = flat.numpy()
    rows = np.empty((math.ceil(flat.numel() / BLOCK), NUM_COLUMNS))
    # Squares of what is left after taking off some value of the tensor cancel less.
    shift = float(values[0]) if math.isfinite(values[0]) else 0.0
    scan(values.view(np.int32), values, shift, rows)
    nums = np.full(len(rows), BLOCK)
    nums[-1] = flat.numel() - BLOCK * (len(rows) - 1)
    lows, highs = key_to_value(rows[:, LOW]), key_to_value(rows[:, HIGH])
    means = rows[:, TOTAL] / nums
    with np.errstate(invalid="ignore"):  # where a value is not finite
        rest = rows[:, SQUARES] - rows[:, TOTAL] * means
    means += shift
    plain = np.isfinite(lows) & np.isfinite(highs) & (rest > LEAST_REST * rows[:, SQUARES])
    found = _walk_again(flat, np.flatnonzero(~plain), begin, tiny)
    deviations = np.sqrt(np.where(plain, rest, 0) / nums)
    columns = nums, lows, highs, means, deviations, *rows[:, (ZERO, NEGATIVE)].T.astype(int)
    small = (rows[:, SMALL] - rows[:, ZERO]).astype(int)
    for row in zip(*(each[plain].tolist() for each in (*columns, small)), strict=True):
        found.parts.append(Part(*row))
    return found


def _walk_again(flat: torch.Tensor, blocks: Iterable[int], begin: int, tiny: float) -> Found:
    """Look closely at blocks with values that are not finite, or nearly equal ones."""
    found = Found()
    for block in blocks:
        first = int(block) * BLOCK
        _look(found, flat[first : first + BLOCK], begin + first, tiny)
    return found
