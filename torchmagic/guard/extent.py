"""This file is how far a tensor's values go and whether they are finite: one pass, a second one only if not."""

import math
from dataclasses import dataclass

import torch

from torchmagic.tensors.places import first_nonfinite
from torchmagic.tensors.reduce import UNREADABLE_ERRORS, fetch
from torchmagic.tensors.scan import scanned
from torchmagic.tensors.sources import stored_values


@dataclass(frozen=True, slots=True, kw_only=True)
class Extent:
    """Ends and broken values of one tensor; complex numbers by their magnitudes, sparse tensors where stored.

    Args:
        low: Least finite value; NaN where there is none.
        high: Greatest finite value.
        num_nan: Values that are NaN.
        num_posinf: Values that are infinite.
        num_neginf: Values that are minus infinity.
        at: Index of the first value that is not finite; None where its index is not that of the tensor.
    """

    low: float
    high: float
    num_nan: int = 0
    num_posinf: int = 0
    num_neginf: int = 0
    at: tuple[int, ...] | None = None

    @property
    def num_nonfinite(self) -> int:
        """Values that are NaN or infinite."""
        return self.num_nan + self.num_posinf + self.num_neginf

    @property
    def ends(self) -> tuple[float, float]:
        """Least and greatest value that is no NaN, infinity counted."""
        low, high = self.low, self.high
        if self.num_posinf:
            low, high = (math.inf if math.isnan(low) else low), math.inf
        if self.num_neginf:
            low, high = -math.inf, (-math.inf if math.isnan(high) else high)
        return low, high


def extent_of(tensor: torch.Tensor) -> Extent | None:
    """Return how far the values of a tensor go; None where there are none, or none that can be read.

    Finite values cost one kernel that reads each of them once, and one transfer from a device.

    Args:
        tensor: A tensor of any shape, dtype, layout and device; it is neither changed nor copied as a whole.
    """
    try:
        stored = stored_values(tensor)
        values = stored.values
        if values is None or not values.numel():
            return None
        with torch._C.DisableTorchFunctionSubclass():  # noqa: SLF001 - documented under this name
            low, high = _ends(values)
            if math.isfinite(low) and math.isfinite(high):
                return Extent(low=low, high=high)
            return _closely(values, placed=stored.placed)
    except UNREADABLE_ERRORS:
        return None


def _ends(values: torch.Tensor) -> tuple[float, float]:
    """Return least and greatest value, NaN where one is NaN, or where this dtype needs a closer look."""
    if values.is_complex():
        return math.nan, math.nan
    try:
        low, high = fetch(list(torch.aminmax(values)))
    except UNREADABLE_ERRORS:  # a dtype that the kernel does not know, such as float8
        return math.nan, math.nan
    return low, high


def _closely(values: torch.Tensor, *, placed: bool) -> Extent:
    found = scanned(values)
    bad = found.num_nan + found.num_posinf + found.num_neginf
    places = first_nonfinite(values, found.dirty) if bad and placed else ()
    return Extent(
        low=min((part.low for part in found.parts), default=math.nan),
        high=max((part.high for part in found.parts), default=math.nan),
        num_nan=found.num_nan,
        num_posinf=found.num_posinf,
        num_neginf=found.num_neginf,
        at=places[0] if places else None,
    )
