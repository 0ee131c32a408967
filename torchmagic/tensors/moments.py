"""This file is the statistics of many tensors at once, by the cheapest kernels that give the right numbers."""

import math
from collections.abc import Sequence
from itertools import compress
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from torchmagic.tensors.chunks import as_numbers
from torchmagic.tensors.exact import UNREADABLE, Moments, exact_moments
from torchmagic.tensors.glance import LEAST_REST
from torchmagic.tensors.packing import LEAST_SQUARES, Packed, packable_sizes, packing_of
from torchmagic.tensors.presence import PLAIN
from torchmagic.tensors.reduce import SINGLES, UNREADABLE_ERRORS, fetch, is_measurable, is_single, values_of
from torchmagic.tensors.segments import segments_of

# Up to so many values, starting a kernel costs more than running it: such tensors are measured together.
FEW_VALUES = 1 << 14
# Four kernels read each piece: it should still be in the cache for the last one. An accelerator wants large launches.
CPU_PIECE, DEVICE_PIECE = 1 << 17, 1 << 24
# Kernels a piece: sum, dot, both ends of aminmax, count_nonzero.
NUM_SUMS = 5

Table = NDArray[np.float64]


def moments_of(tensors: Sequence[torch.Tensor]) -> list[Moments]:
    """Return the statistics of each tensor, with one transfer from the device; ``UNREADABLE`` where there are none.

    Args:
        tensors: Tensors of any shape, dtype, layout and device.
    """
    columns = table_of(tensors).table.T.tolist()
    return [Moments(int(num_values), int(num_nonfinite), *rest) for num_values, num_nonfinite, *rest in columns]


class Measured(NamedTuple):
    """What tensors were measured to be.

    Args:
        table: Rows are the fields of ``Moments``, columns the tensors.
        brought: The values of zero-dim tensors that came by the same transfer.
        packed: The tensors as they were, where they were measured in one array.
    """

    table: Table
    brought: list[float]
    packed: Packed | None = None


def table_of(tensors: Sequence[torch.Tensor], scalars: Sequence[torch.Tensor] = ()) -> Measured:
    """Return the same as a table, and the values of zero-dim tensors by the same transfer."""
    sizes = packable_sizes(tensors)
    if sizes and max(sizes) <= FEW_VALUES:  # the usual case of a small model, by the short way
        table, packed = _together(tensors, sizes)
        return Measured(table, fetch(scalars), packed)
    values = [_readable(tensor) for tensor in tensors]
    found = np.empty((len(Moments._fields), len(values)))
    found[:] = np.array(UNREADABLE)[:, np.newaxis]
    small: dict[int, torch.Tensor] = {}
    large: dict[int, torch.Tensor] = {}
    for i, each in enumerate(values):
        if each is not None and type(each) not in PLAIN:
            found[:, i] = _closely(each)
        elif each is not None and each.device.type == "cpu" and each.numel() <= FEW_VALUES:
            part = each if each.dtype in SINGLES else _numbers(each)
            if part is None or not part.numel():
                found[:, i] = _closely(each)
            else:
                small[i] = part
        elif each is not None:
            large[i] = each
    if small:
        found[:, list(small)], _ = _together(list(small.values()), tuple([part.numel() for part in small.values()]))
    measured, brought = _by_kernels(list(large.values()), scalars)
    for (i, each), cheap in zip(large.items(), measured, strict=True):
        found[:, i] = cheap if cheap is not None else _closely(each)
    return Measured(found, brought)


def rows_told(table: Table, names: Sequence[str]) -> tuple[Sequence[str], dict[str, list[float]]]:
    """Return the names of the tensors that could be read, and their statistics by field.

    Args:
        table: As ``table_of`` gives it.
        names: Of the tensors, in their order.
    """
    if not table[0].all():
        told = table[0] > 0
        names, table = tuple(compress(names, told)), table[:, told]
    return names, dict(zip(Moments._fields, table.tolist(), strict=True))


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


def _together(tensors: Sequence[torch.Tensor], sizes: tuple[int, ...]) -> tuple[Table, Packed]:
    """Measure small tensors of single or double precision in one array, and return it too."""
    packing = packing_of(sizes)
    packed = Packed(packing, packing.pack(tensors))
    sums = segments_of(*packed)
    found = np.empty((len(Moments._fields), len(sizes)))
    found[0], found[1] = sums.counts, 0
    with np.errstate(all="ignore"):  # of the unsure ones
        np.sqrt(sums.squares, out=found[2])
        np.divide(sums.totals, sums.counts, out=found[3])
        np.sqrt(sums.rests / sums.counts, out=found[4])
        np.maximum(-sums.lows, sums.highs, out=found[5])
        np.subtract(1, sums.filled / sums.counts, out=found[6])
    for i in np.flatnonzero(sums.unsure).tolist():
        found[:, i] = _closely(tensors[i].detach())
    return found, packed


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
    if peak and (variance < LEAST_REST * squares / count or squares < LEAST_SQUARES):
        return None
    return Moments(
        num_values=count,
        norm=math.sqrt(squares),
        mean=mean,
        std=math.sqrt(max(variance, 0.0)),
        abs_max=peak,
        zero_share=1 - nonzero / count,
    )
