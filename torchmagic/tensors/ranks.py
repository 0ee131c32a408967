"""This file is the quantiles of all values by two walks that count, in bounded memory and without sorting."""

import math
from collections.abc import Callable, Sequence

import numpy as np
import torch

from torchmagic.tensors.chunks import as_numbers
from torchmagic.tensors.cores import Walk, on_all_cores
from torchmagic.tensors.sample import SHARES

# Each walk tells 16 bits of a 32-bit key.
_HALF, _BUCKETS = 16, 1 << 16
# Of wider numbers the last bits stay unknown: a float64 is right to one part in a million then.
WIDE_ERROR = 2.0**-20

Keys = Callable[[torch.Tensor], torch.Tensor]


def exact_quantiles(values: torch.Tensor, low: float, high: float) -> tuple[tuple[float, float], ...]:
    """Return (share, value) at each of ``SHARES``, linear between neighbours.

    Exact for whole numbers within a range of 2**32 and for floats of at most 32 bits; of others within
    ``WIDE_ERROR`` of the value (of the range, for whole numbers).

    Args:
        values: A dense tensor of any shape, dtype, device and strides, without gradient.
        low: The least finite value.
        high: The greatest one.
    """
    keys, value = _order(values, low, high)
    upper = torch.stack(on_all_cores(values, lambda walk: _upper(walk, keys))).sum(0)
    ends = np.cumsum(upper.numpy())
    num = int(ends[-1])
    ranks = sorted({rank for share in SHARES for rank in _neighbours(share, num)})
    buckets = np.searchsorted(ends, ranks, side="right")
    chosen = sorted(set(buckets.tolist()))
    parts = on_all_cores(values, lambda walk: _lower(walk, keys, chosen))
    lower = torch.stack(parts).sum(0).numpy().reshape(len(chosen), -1)
    found: dict[int, float] = {}
    for rank, bucket in zip(ranks, buckets.tolist(), strict=True):
        inside = np.cumsum(lower[chosen.index(bucket)])
        before = int(ends[bucket - 1]) if bucket else 0
        found[rank] = value((bucket << _HALF) + int(np.searchsorted(inside, rank - before, side="right")))
    return tuple((share, _between(share, num, found)) for share in SHARES)


def _neighbours(share: float, num: int) -> tuple[int, int]:
    below = math.floor(share * (num - 1))
    return below, min(below + 1, num - 1)


def _between(share: float, num: int, found: dict[int, float]) -> float:
    below, above = _neighbours(share, num)
    weight = share * (num - 1) - below
    return found[below] * (1 - weight) + found[above] * weight


def _upper(walk: Walk, keys: Keys) -> torch.Tensor:
    counts = torch.zeros(_BUCKETS, dtype=torch.int64, device="cpu")
    for _, piece in walk:
        counts += torch.bincount(keys(piece) >> _HALF, minlength=_BUCKETS).cpu()
    return counts


def _lower(walk: Walk, keys: Keys, chosen: Sequence[int]) -> torch.Tensor:
    """Count the lower halves of the keys whose upper half is among the chosen ones, apart for each of these."""
    rows = torch.full((_BUCKETS,), -1, dtype=torch.int64, device="cpu")
    rows[torch.as_tensor(chosen, device="cpu")] = torch.arange(len(chosen), device="cpu")
    counts = torch.zeros(len(chosen) * _BUCKETS, dtype=torch.int64, device="cpu")
    for _, piece in walk:
        found = keys(piece).cpu()
        row = rows[found >> _HALF]
        inside = row >= 0
        places = row[inside].mul_(_BUCKETS).add_(found[inside].remainder_(_BUCKETS))
        counts += torch.bincount(places, minlength=len(counts))
    return counts


def _order(values: torch.Tensor, low: float, high: float) -> tuple[Keys, Callable[[int], float]]:
    """Keys from 0 to 2**32 that rise with the values, of finite ones only, and the value of a key."""
    if not (values.is_floating_point() or values.is_complex()):
        return _whole_order(values, int(low), int(high))
    if values.is_complex() or values.dtype == torch.float64:
        return _wide_keys, _wide_value
    return _narrow_keys, _narrow_value


def _whole_order(values: torch.Tensor, low: int, high: int) -> tuple[Keys, Callable[[int], float]]:
    shift = max(0, (high - low).bit_length() - 2 * _HALF)
    if values.dtype == torch.uint64:
        return _wide_keys, _wide_value  # measured as float64
    if high - low >= 1 << 63:  # a difference would wrap round
        return (lambda piece: (as_numbers(piece).long() >> shift) - (low >> shift)), lambda key: low + (key << shift)
    return (lambda piece: (as_numbers(piece).long() - low) >> shift), lambda key: low + (key << shift)


def _narrow_keys(piece: torch.Tensor) -> torch.Tensor:
    numbers = _finite(as_numbers(piece))
    bits = numbers.view(torch.int32)
    return (bits ^ ((bits >> 31) & 0x7FFFFFFF)).long() + (1 << 31)


def _narrow_value(key: int) -> float:
    bits = key - (1 << 31)
    return float(np.array(bits if bits >= 0 else bits ^ 0x7FFFFFFF, dtype=np.int32).view(np.float32))


def _wide_keys(piece: torch.Tensor) -> torch.Tensor:
    bits = _finite(as_numbers(piece)).view(torch.int64)
    return ((bits ^ ((bits >> 63) & 0x7FFFFFFFFFFFFFFF)) >> 32) + (1 << 31)


def _wide_value(key: int) -> float:
    bits = (key - (1 << 31)) << 32
    return float(np.array(bits if bits >= 0 else bits ^ 0x7FFFFFFFFFFFFFFF, dtype=np.int64).view(np.float64))


def _finite(numbers: torch.Tensor) -> torch.Tensor:
    numbers = numbers.resolve_neg().contiguous()
    return numbers if torch.isfinite(numbers.sum()) else numbers[torch.isfinite(numbers)]
