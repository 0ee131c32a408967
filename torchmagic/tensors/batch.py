"""This file is the batch: what a batch's values are like, whether it came before, and which of its samples are bad."""

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from torchmagic.tensors.glance import DEEPEST, MOST_TENSORS, glance, sample
from torchmagic.tensors.nests import parts_of
from torchmagic.tensors.presence import has_numbers
from torchmagic.tensors.reduce import fetch

# Integer targets from 0 up to here are classes; beyond, they are tokens or identities.
MOST_CLASSES = 1000
# A larger batch is told from another by this many of its values.
MOST_PRINT_VALUES = 1 << 16
IMAGE_DIMS, MATRIX_DIMS = 4, 2
# The first values of a batch count by their places, so that an order is told from another.
NUM_FIRST = 64
RAMP = np.arange(1.0, NUM_FIRST + 1)
# What counts in the place of NaN, infinity and negative infinity, and by what all values are multiplied then: a power
# of two, which loses nothing, and so small that no sum of finite values overflows.
STAND_INS = math.pi, math.e**10, -(math.e**9)
SMALLER = 2.0**-20


class Print(NamedTuple):
    """What tells a batch from others: its shape, two sums of values, and whether all that were summed are finite."""

    shape: tuple[int, ...]
    total: float
    placed: float
    finite: bool


class Values(NamedTuple):
    """Statistics of the finite values looked at, and whether one was not finite."""

    low: float
    high: float
    mean: float
    std: float
    nonfinite: bool


def fields_in(batch: Any, prefix: str = "", depth: int = 0) -> Iterator[tuple[str, torch.Tensor]]:
    """Yield the tensors of a batch with where they stand in it: empty for a bare tensor, else ``image.left``."""
    if isinstance(batch, torch.Tensor):
        yield prefix, batch
    elif depth < DEEPEST:
        for name, value in parts_of(batch)[:MOST_TENSORS]:
            yield from fields_in(value, f"{prefix}.{name}" if prefix else name, depth + 1)


def has_values(value: Any) -> bool:
    """Whether a value is a plain dense tensor of real numbers, integers or truth values that can be read."""
    if type(value) is not torch.Tensor or value.layout is not torch.strided or value.is_nested:
        return False
    if value.is_quantized or value.is_complex() or not value.numel():
        return False
    return has_numbers(value)


def values_of(tensor: torch.Tensor) -> Values:
    """Return statistics from a sample of bounded size; whether all is finite is asked of every value.

    Args:
        tensor: A tensor that ``has_values``, of any shape.
    """
    tensor = tensor.detach()
    flat = sample(tensor)
    part = flat.numel() < tensor.numel() and tensor.is_floating_point()
    low, high, mean, std, *total = _moments(flat, tensor if part else None)
    if math.isfinite(low) and math.isfinite(high):
        finite = not part or math.isfinite(total[0]) or bool(torch.isfinite(tensor).all())
        return Values(low, high, mean, std, nonfinite=not finite)
    flat = flat[torch.isfinite(flat)]
    if not flat.numel():
        return Values(math.nan, math.nan, math.nan, math.nan, nonfinite=True)
    low, high, mean, std = _moments(flat, None)
    return Values(low, high, mean, std, nonfinite=True)


def fingerprint(tensor: torch.Tensor) -> Print:
    """Return what tells a batch from others: equal batches have equal ones, and hardly any others do.

    A stride that shares no factor with a sample's size keeps the same pixel of every sample from being all that is
    looked at: corners of images are alike.
    """
    flat = tensor.detach().reshape(-1) if tensor.is_contiguous() else sample(tensor.detach())
    if flat.numel() > MOST_PRINT_VALUES:
        row = max(tensor.numel() // max(tensor.shape[0], 1), 1)
        stride = flat.numel() // MOST_PRINT_VALUES + 1
        while math.gcd(stride, row) > 1:
            stride += 1
        flat = flat[::stride]
    wide = torch.float32 if flat.device.type == "mps" else torch.float64  # the only device without it
    total, placed = _sums(flat, wide)
    if math.isfinite(total) and math.isfinite(placed):
        return Print(tuple(tensor.shape), total, placed, finite=True)
    flat = flat.to(wide, copy=True)
    finite = bool(torch.isfinite(flat).all())
    total, placed = _sums(flat.nan_to_num_(*STAND_INS).mul_(SMALLER), wide)  # NaN equals nothing, infinity any other
    return Print(tuple(tensor.shape), total, placed, finite)


def class_counts(tensor: torch.Tensor) -> list[int] | None:
    """Return how many samples each class has in a batch of class targets; None for what is none.

    Args:
        tensor: Targets, one a sample: integers below ``MOST_CLASSES`` (negative ones are left out, as targets to
            ignore are), or floating-point numbers that are all 0 or 1.
    """
    flat = tensor.detach()
    if flat.dim() == MATRIX_DIMS and flat.shape[1] == 1:
        flat = flat[:, 0]
    if flat.dim() != 1:
        return None
    numbers = _as_array(flat)
    if flat.is_floating_point() and not np.isin(numbers, (0, 1)).all():
        return None
    numbers = numbers[numbers >= 0].astype(np.int64)
    if not len(numbers) or numbers.max() >= MOST_CLASSES:
        return None
    counts: list[int] = np.bincount(numbers).tolist()
    return counts


def bad_rows(tensor: torch.Tensor, most: int) -> list[tuple[int | None, int, int]]:
    """Return (row, NaN values, infinite values) of the first samples that are not finite; row None without rows."""
    if not tensor.is_floating_point():
        return []
    rows = tensor.detach().reshape(tensor.shape[0], -1) if tensor.dim() else tensor.detach().reshape(1, 1)
    found = (~torch.isfinite(rows)).any(1).nonzero()[:most, 0].tolist()
    return [
        (row if tensor.dim() else None, int(torch.isnan(rows[row]).sum()), int(torch.isinf(rows[row]).sum()))
        for row in found
    ]


def layout_of(tensor: torch.Tensor) -> str:
    """Return how a tensor lies in memory: ``contiguous``, ``channels_last``, ``strided`` or torch's sparse layout."""
    if tensor.layout is not torch.strided:
        return str(tensor.layout).removeprefix("torch.")
    if tensor.is_contiguous():
        return "contiguous"
    if tensor.dim() == IMAGE_DIMS and tensor.is_contiguous(memory_format=torch.channels_last):
        return "channels_last"
    return "strided"


def _sums(flat: torch.Tensor, wide: torch.dtype) -> tuple[float, float]:
    """Return the sum of some values, and that of the first ones by their places."""
    total, first = flat.sum(dtype=wide), flat[:NUM_FIRST].to(wide)
    if flat.device.type != "cpu":
        together = torch.cat([total.reshape(1), first]).cpu()  # one transfer
        total, first = together[0], together[1:]
    with np.errstate(all="ignore"):  # NaN and infinity come through
        return total.item(), float(np.dot(first.numpy(), RAMP[: first.numel()]))


def _as_array(flat: torch.Tensor) -> NDArray[Any]:
    flat = flat.cpu()
    array: NDArray[Any] = (flat.double() if flat.is_floating_point() else flat).numpy()
    return array


def _moments(flat: torch.Tensor, whole: torch.Tensor | None) -> list[float]:
    """Return least, greatest, mean and deviation, and the sum of what the sample is taken from, in one transfer."""
    total = []
    if whole is not None:
        half = whole.element_size() < 4  # noqa: PLR2004 - bytes; a sum of half types would overflow
        total = [whole.sum(dtype=torch.float32 if half else None)]
    if flat.device.type == "cpu":  # a tenth of the time that torch's own deviation takes
        added, length, low, high, _, _ = map(float, glance(flat))
        count = flat.numel()
        return [low, high, added / count, length / math.sqrt(count), *fetch(total)]
    flat = flat if flat.dtype is torch.float64 else flat.float()
    std, mean = torch.std_mean(flat, correction=0)
    return fetch([*torch.aminmax(flat), mean, std, *total])
