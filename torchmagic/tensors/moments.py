"""This file is the statistics of many tensors at once, by the cheapest kernels that give the right numbers."""

import math
from collections.abc import Sequence

import numpy as np
import torch
from torch._utils import _flatten_dense_tensors

from torchmagic.tensors.chunks import as_numbers
from torchmagic.tensors.exact import LEAST_PEAK, UNREADABLE, Moments, exact_moments
from torchmagic.tensors.presence import PLAIN
from torchmagic.tensors.reduce import SINGLES, UNREADABLE_ERRORS, fetch, is_measurable, is_single, values_of

# Up to so many values, starting a kernel costs more than running it: such tensors are measured together.
FEW_VALUES = 1 << 14
# Four kernels read each piece: it should still be in the cache for the last one. An accelerator wants large launches.
CPU_PIECE, DEVICE_PIECE = 1 << 17, 1 << 24
# Kernels a piece: sum, dot, both ends of aminmax, count_nonzero.
NUM_SUMS = 5
# Below this share of the squared mean a variance from sum and squares has lost too many digits.
LEAST_VARIANCE = 0.1
LEAST_DOUBLE_VARIANCE = 1e-9  # the same where both are in double precision
# Below this sum of squares some squares may have vanished in float32.
LEAST_SQUARES = 1e-24


def moments_of(tensors: Sequence[torch.Tensor]) -> list[Moments]:
    """Return the statistics of each tensor, with one transfer from the device; ``UNREADABLE`` where there are none.

    Args:
        tensors: Tensors of any shape, dtype, layout and device.
    """
    return moments_and(tensors, ())[0]


def moments_and(tensors: Sequence[torch.Tensor], scalars: Sequence[torch.Tensor]) -> tuple[list[Moments], list[float]]:
    """Return the same, and the values of zero-dim tensors by the same transfer."""
    values = [_readable(tensor) for tensor in tensors]
    found = [UNREADABLE] * len(values)
    small: list[int] = []
    large: list[int] = []
    for i, each in enumerate(values):
        if each is not None and type(each) not in PLAIN:
            found[i] = _closely(each)
        elif each is not None:
            (small if each.device.type == "cpu" and each.numel() <= FEW_VALUES else large).append(i)
    few, many = ([each for i in places if (each := values[i]) is not None] for places in (small, large))
    measured, brought = _by_kernels(many, scalars)
    for i, each, cheap in zip((*small, *large), (*few, *many), (*_together(few), *measured), strict=True):
        found[i] = cheap if cheap is not None else _closely(each)
    return found, brought


def _readable(tensor: torch.Tensor) -> torch.Tensor | None:
    if is_single(tensor):
        return tensor.detach() if tensor.requires_grad else tensor
    try:
        return values_of(tensor) if is_measurable(tensor) else None
    except UNREADABLE_ERRORS:  # a subclass that lacks the operator
        return None


def _closely(values: torch.Tensor) -> Moments:
    try:
        return exact_moments(values)
    except UNREADABLE_ERRORS:  # a packed dtype, a device without float64
        return UNREADABLE


def _together(tensors: list[torch.Tensor]) -> list[Moments | None]:
    """Measure small tensors in one float64 array; None for one that needs a closer look."""
    found: list[Moments | None] = [None] * len(tensors)
    parts: dict[int, torch.Tensor] = {}
    for i, tensor in enumerate(tensors):
        part = tensor if tensor.dtype in SINGLES else _numbers(tensor)
        if part is not None and part.numel():
            parts[i] = part
    if not parts:
        return found
    flat = _in_double_precision(list(parts.values()))
    counts = np.array([part.numel() for part in parts.values()])
    starts = np.cumsum(counts) - counts
    with np.errstate(all="ignore"):  # what overflows or is not a number gets a closer look
        means = np.add.reduceat(flat, starts) / counts
        lows, highs = np.minimum.reduceat(flat, starts), np.maximum.reduceat(flat, starts)
        filled = flat != 0
        zero_shares = (
            np.zeros_like(means) if filled.all() else 1 - np.add.reduceat(filled, starts, dtype=np.int64) / counts
        )
        squares = np.add.reduceat(np.square(flat, out=flat), starts)
        variances = squares / counts - means**2
        variances[lows == highs] = 0
        variances[(lows != highs) & ~(variances > LEAST_DOUBLE_VARIANCE * means**2)] = math.nan
        columns = counts, np.sqrt(squares), means, np.sqrt(variances), np.maximum(-lows, highs), zero_shares
    for i, count, norm, mean, std, peak, zeros in zip(parts, *(each.tolist() for each in columns), strict=True):
        if math.isfinite(norm + std) and (peak == 0 or peak > LEAST_PEAK):
            found[i] = Moments(count, 0, norm, mean, std, peak, zeros)
    return found


def _in_double_precision(parts: list[torch.Tensor]) -> np.ndarray:
    """Return the values of all, one after another, in an array of their own."""
    if len({part.dtype for part in parts}) == 1:
        flat = _flatten_dense_tensors(parts)  # type: ignore[no-untyped-call] # torch
    else:
        flat = torch.cat([part.reshape(-1) for part in parts])
    return flat.to(torch.float64, copy=True).numpy()  # type: ignore[no-any-return] # torch


def _numbers(tensor: torch.Tensor) -> torch.Tensor | None:
    try:
        return as_numbers(tensor)
    except UNREADABLE_ERRORS:  # a packed dtype
        return None


def _by_kernels(
    tensors: list[torch.Tensor], scalars: Sequence[torch.Tensor]
) -> tuple[list[Moments | None], list[float]]:
    """Measure tensors by sum, dot, aminmax and count_nonzero, None for one that needs a closer look; fetch scalars."""
    sums: list[torch.Tensor] = []
    num_pieces = []
    for tensor in tensors:
        before = len(sums)
        try:
            for piece in torch.split(tensor.reshape(-1), CPU_PIECE if tensor.device.type == "cpu" else DEVICE_PIECE):
                numbers = piece if piece.dtype in SINGLES else as_numbers(piece)
                low, high = torch.aminmax(numbers)
                sums += numbers.sum(), numbers.dot(numbers), low, high, torch.count_nonzero(numbers)
        except UNREADABLE_ERRORS:
            del sums[before:]
        num_pieces.append((len(sums) - before) // NUM_SUMS)
    brought = fetch([*sums, *scalars])
    numbers_found = np.array(brought[: len(sums)]).reshape(-1, NUM_SUMS)
    ends = np.cumsum(num_pieces)
    found = [
        _combined(tensor.numel(), numbers_found[end - num : end])
        for tensor, num, end in zip(tensors, num_pieces, ends, strict=True)
    ]
    return found, brought[len(sums) :]


def _combined(count: int, pieces: np.ndarray) -> Moments | None:
    """Join the sums of a tensor's pieces; None where they overflowed, vanished, cancelled or met a broken value."""
    if not len(pieces) or not np.isfinite(pieces).all():
        return None
    total, squares, _, _, nonzero = pieces.sum(axis=0).tolist()
    peak = float(max(-pieces[:, 2].min(), pieces[:, 3].max()))
    mean = total / count
    variance = squares / count - mean * mean
    if peak and (variance < LEAST_VARIANCE * mean * mean or squares < LEAST_SQUARES):
        return None
    return Moments(
        num_values=count,
        norm=math.sqrt(squares),
        mean=mean,
        std=math.sqrt(max(variance, 0.0)),
        abs_max=peak,
        zero_share=1 - nonzero / count,
    )
