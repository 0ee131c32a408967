"""This file is the glance: a tensor's statistics from a sample of bounded size, without waiting for a device."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

import torch
from torch.nn.parameter import is_lazy

from torchmagic.records.activation import TensorFacts
from torchmagic.tensors.genuine import is_tensor
from torchmagic.tensors.nests import entries_of
from torchmagic.tensors.presence import PLAIN, has_numbers, is_at_hand

# Up to here every value counts; beyond, so many blocks of so many neighbours, evenly spread: 16k values.
MOST_VALUES = 1 << 15
BLOCKS, LENGTH = 16, 1024
# Values looked at in a nest of tuples and dicts, and how deep.
MOST_TENSORS, DEEPEST = 8, 3
# Below this a sum of float32 squares may have lost terms to underflow.
SMALLEST_SQUARES = 1e-25
# Below this share of the sum of squares a difference of two sums has lost too many digits.
LEAST_REST = 0.1

Scalar = float | torch.Tensor
Glance = tuple[Scalar, Scalar, Scalar, Scalar, Scalar, Scalar]


def readable(value: Any) -> bool:
    """Whether a value is a plain dense tensor of real floating-point numbers that can be read here and now."""
    if is_at_hand(value):  # the usual case, by the short way
        return value.is_floating_point()  # type: ignore[no-any-return] # torch
    if type(value) not in PLAIN:
        return False  # a subclass may mean something else by its operators
    if value.layout is not torch.strided or value.is_nested or not has_numbers(value):
        return False
    if not value.is_floating_point() or not value.numel():
        return False
    return not (value.is_cuda and torch.cuda.is_current_stream_capturing())


def tensors_in(value: Any, depth: int = 0) -> list[torch.Tensor]:
    """Return the first tensors in a value, a tuple, a list or a dict, in order."""
    if is_tensor(value):
        return [value]
    if depth >= DEEPEST:
        return []
    found: list[torch.Tensor] = []
    for _, item in entries_of(value):
        found += tensors_in(item, depth + 1)
        if len(found) >= MOST_TENSORS:
            break
    return found[:MOST_TENSORS]


def facts_of(tensors: Iterable[torch.Tensor]) -> tuple[TensorFacts, ...]:
    """Return shape, dtype and device of each tensor; a ragged one has no shape, and one without a size none yet."""
    return tuple(
        TensorFacts(
            shape=() if tensor.is_nested or is_lazy(tensor) else tuple(map(int, tensor.shape)),
            dtype=str(tensor.dtype).removeprefix("torch."),
            device=str(tensor.device),
        )
        for tensor in tensors
    )


def sample(values: torch.Tensor) -> torch.Tensor:
    """Return at most ``MOST_VALUES`` values as a 1-d tensor, the same ones each time.

    Args:
        values: A dense tensor of any shape and strides.
    """
    total = values.numel()
    if total <= MOST_VALUES:
        return values.reshape(-1)
    if values.is_contiguous() or (values.dim() == 4 and values.is_contiguous(memory_format=torch.channels_last)):  # noqa: PLR2004 - images
        return values.as_strided((BLOCKS, LENGTH), ((total - LENGTH) // (BLOCKS - 1), 1)).reshape(-1)
    for dim in sorted(range(values.dim()), key=lambda each: -values.shape[each]):
        stride = min(values.shape[dim], math.ceil(values.numel() / MOST_VALUES))
        values = values[(slice(None),) * dim + (slice(None, None, stride),)]
    return values.reshape(-1)


def glance(values: torch.Tensor) -> Glance:
    """Return sum, length of what is left without the mean, least, greatest, and how many are zero and finite.

    Args:
        values: 1-d, as ``sample`` gives them.

    Returns:
        Six numbers: on the host at once, elsewhere as zero-dim tensors, so that nothing waits for the device. Where a
        value is not finite, sum and length are not either.
    """
    if values.dtype not in (torch.float32, torch.float64):
        values = values.float()
    if values.device.type != "cpu":
        return _on_device(values)
    count, total = values.numel(), values.sum().item()
    low, high = (each.item() for each in torch.aminmax(values))
    zeros = count - int(torch.count_nonzero(values)) if not (low > 0 or high < 0) else 0
    if math.isfinite(total):
        if low == high:
            return total, 0.0, low, high, zeros, count
        whole = torch.dot(values, values).item()
        squares = whole - total * total / count
        if squares < LEAST_REST * whole:  # too many digits went: once more, around the mean
            rest = values - total / count
            squares = torch.dot(rest, rest).item()
        if SMALLEST_SQUARES < squares < math.inf:
            return total, math.sqrt(squares), low, high, zeros, count
    # Either something is not finite, or the numbers are too large or too small for sums and squares in float32.
    wide = values.double()
    total, finite = wide.sum().item(), int(torch.count_nonzero(torch.isfinite(values)))
    rest = wide - total / count
    return total, math.sqrt(torch.dot(rest, rest).item()), low, high, zeros, finite


def pooled(counts: Sequence[int], sums: Sequence[float], lengths: Sequence[float]) -> tuple[float, float]:
    """Return mean and standard deviation of several groups of values together, from what ``glance`` says of each."""
    count = sum(counts)
    mean = sum(sums) / count
    groups = zip(counts, sums, lengths, strict=True)
    squares = sum(length * length + number * (total / number - mean) ** 2 for number, total, length in groups)
    return mean, math.sqrt(squares / count) if math.isfinite(squares) else math.nan


def _on_device(values: torch.Tensor) -> Glance:
    # Squares of float32 numbers overflow in float32; not every accelerator knows float64.
    wide = values.double() if values.device.type == "cuda" else values
    rest = wide - wide.mean()
    low, high = torch.aminmax(values)
    zeros, finite = torch.count_nonzero(values == 0), torch.count_nonzero(torch.isfinite(values))
    return wide.sum(), torch.dot(rest, rest).sqrt(), low, high, zeros, finite
