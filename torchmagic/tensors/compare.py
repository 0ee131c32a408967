"""This file compares two tensors element by element, in bounded memory."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import torch

from torchmagic.records.tensor_relations import Comparison
from torchmagic.tensors.cores import CPU_PIECE
from torchmagic.tensors.places import index_of

# torch.testing's tolerances, relative and absolute; the coarser dtype counts. Whole numbers have to be equal.
_TOLERANCES = {
    torch.float8_e5m2: (2.5e-1, 1e-2),
    torch.float8_e4m3fn: (1.25e-1, 1e-2),
    torch.bfloat16: (1.6e-2, 1e-5),
    torch.float16: (1e-3, 1e-5),
    torch.float32: (1.3e-6, 1e-5),
    torch.complex64: (1.3e-6, 1e-5),
    torch.float64: (1e-7, 1e-7),
    torch.complex128: (1e-7, 1e-7),
}
_BITS = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


def compare(one: torch.Tensor, other: torch.Tensor, *, name: str) -> Comparison:
    """Compare two tensors.

    Args:
        one: A dense tensor of any dtype, device and strides, without gradient.
        other: Another one of the same shape; its dtype and device may differ.
        name: What the other one is called.

    Raises:
        ValueError: If the shapes differ.
        RuntimeError: If torch cannot read the values.
    """
    if one.shape != other.shape:
        raise ValueError(f"{name} has shape {list(other.shape)}, {list(one.shape)} was wanted; compare equal shapes")
    rtol, atol = max(_TOLERANCES.get(one.dtype, (0.0, 0.0)), _TOLERANCES.get(other.dtype, (0.0, 0.0)))
    has_ulp = one.dtype == other.dtype and one.is_floating_point() and one.dtype.itemsize in _BITS
    found = Comparison(
        other=name,
        other_dtype=str(other.dtype).removeprefix("torch."),
        num_values=one.numel(),
        rtol=rtol,
        atol=atol,
        max_ulp=0 if has_ulp else None,
    )
    peaks = _Peaks()
    begin = 0
    for left, right in _pairs(one, other):
        if left.numel():
            found = _joined(found, _plain(left), _plain(right), begin, peaks)
        begin += left.numel()
    abs_at = index_of(peaks.abs_place, one.shape) if peaks.abs_place is not None else ()
    rel_at = index_of(peaks.rel_place, one.shape) if peaks.rel_place is not None else ()
    return replace(found, max_abs_at=abs_at, max_rel_at=rel_at)


@dataclass(slots=True)
class _Peaks:
    abs_place: int | None = None
    rel_place: int | None = None


def _pairs(one: torch.Tensor, other: torch.Tensor) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    if one.numel() <= CPU_PIECE:
        yield one.reshape(-1), other.reshape(-1)
        return
    rows = CPU_PIECE // (one.numel() // one.shape[0])
    for left, right in zip(torch.split(one, max(rows, 1)), torch.split(other, max(rows, 1)), strict=True):
        yield from _pairs(left, right) if rows else _pairs(left[0], right[0])


def _plain(values: torch.Tensor) -> torch.Tensor:
    return values.cpu().resolve_neg().resolve_conj()


def _wide(values: torch.Tensor) -> torch.Tensor:
    return values.to(torch.complex128 if values.is_complex() else torch.float64)


def _joined(found: Comparison, left: torch.Tensor, right: torch.Tensor, begin: int, peaks: _Peaks) -> Comparison:
    one, other = _wide(left), _wide(right)
    whole = not any(each.is_floating_point() or each.is_complex() for each in (left, right))
    both_nan = torch.isnan(one) & torch.isnan(other)
    finite = torch.isfinite(one) & torch.isfinite(other)
    apart = _whole_gaps(left, right) if whole else (one - other).abs()
    equal = (apart == 0 if whole else one == other) | both_nan
    gaps = torch.where(finite & ~equal, apart, 0.0)
    sizes = torch.where(finite, other.abs(), 1.0)
    shares = torch.where(sizes > 0, gaps / sizes, 0.0)
    near = finite & (gaps <= found.atol + found.rtol * sizes) if found.rtol else torch.zeros_like(equal)
    far = ~(equal | near)
    found = replace(
        found,
        num_different=found.num_different + int(torch.count_nonzero(~equal)),
        num_one_sided=found.num_one_sided + int(torch.count_nonzero(~finite & ~equal)),
        num_outside=found.num_outside + int(torch.count_nonzero(far)),
    )
    if not finite.any():
        return found
    place = int(gaps.argmax())
    gap = gaps[place].item()
    if found.max_abs is None or gap > found.max_abs:
        peaks.abs_place = begin + place if gap else None
        values = (_number(left[place]), _number(right[place]))
        found = replace(found, max_abs=gap, max_abs_values=values)
    place = int(shares.argmax())
    share = shares[place].item()
    if found.max_rel is None or share > found.max_rel:
        peaks.rel_place = begin + place if share else None
        found = replace(found, max_rel=share)
    if found.max_ulp is not None:
        found = replace(found, max_ulp=max(found.max_ulp, _ulp(left[finite], right[finite])))
    return found


def _number(value: torch.Tensor) -> float:
    if value.is_complex():
        return abs(complex(value.item()))
    return float(value) if value.is_floating_point() else int(value.item())


def _whole_gaps(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """How far whole numbers are apart, as float64: also those beyond 2**53, which that could not tell apart."""
    (high, low), (other_high, other_low) = _halves(left), _halves(right)
    return ((high - other_high).double() * 2.0**32 + (low - other_low).double()).abs()


def _halves(values: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The upper and the lower 32 bits of whole numbers, the upper ones with the sign."""
    is_unsigned = values.dtype == torch.uint64
    bits = values.view(torch.int64) if is_unsigned else values.long()
    high = bits >> 32
    return high & 0xFFFFFFFF if is_unsigned else high, bits & 0xFFFFFFFF


def _ulp(left: torch.Tensor, right: torch.Tensor) -> int:
    """Most representable numbers between two finite values; exact up to 2**53."""
    steps = (_steps(left).double() - _steps(right).double()).abs()
    return int(steps.max())


def _steps(values: torch.Tensor) -> torch.Tensor:
    """Whole numbers that rise by one from a float to the next; both zeros are 0."""
    bits = values.contiguous().view(_BITS[values.dtype.itemsize]).long()
    least = torch.iinfo(_BITS[values.dtype.itemsize]).min
    return torch.where(bits < 0, least - bits, bits)
