"""This file is ``InputSpec``: what a tensor has to be like to be let into a model."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from types import EllipsisType
from typing import Any

import torch

Size = int | str | None | EllipsisType
Shape = Sequence[Size]
Dtypes = torch.dtype | Sequence[torch.dtype]


@dataclass(frozen=True, slots=True, kw_only=True)
class InputSpec:
    """What a tensor has to be like; None means that it is not looked at.

    Args:
        dtype: The dtype, or several of which it has one.
        shape: One entry a dimension: a size; None or -1 for any size; a name for a size that is the same wherever the
            name stands in a batch, such as ``("batch", 3, 224, 224)``; once ``...`` for any number of dimensions.
        minimum: Least value, in the tensor's own unit; of complex numbers their magnitude.
        maximum: Greatest value.
        finite: Whether NaN and infinity are refused.
        empty: Whether a tensor without elements is let in.
        device: The device, such as ``"cpu"`` or ``"cuda:1"``; without a number any of that kind.

    Raises:
        ValueError: If a setting makes no sense; one line.

    Example:
        >>> InputSpec(dtype=torch.float32, shape=("batch", 3), minimum=0, maximum=1).dtypes
        (torch.float32,)
    """

    dtype: Dtypes | None = None
    shape: Shape | None = None
    minimum: float | None = None
    maximum: float | None = None
    finite: bool = True
    empty: bool = False
    device: str | torch.device | None = None

    def __post_init__(self) -> None:
        for name in ("minimum", "maximum"):
            _check_end(name, getattr(self, name))
        if self.minimum is not None and self.maximum is not None and self.minimum > self.maximum:
            raise ValueError(f"minimum is at most maximum, {self.minimum:g} and {self.maximum:g} came")
        if self.shape is not None:
            _check_shape(self.shape)
        for dtype in self.dtypes or ():
            if not isinstance(dtype, torch.dtype):
                raise ValueError(  # noqa: TRY004 - one kind of error for a wrong setting
                    f"dtype is a torch.dtype such as torch.float32, or several, {dtype!r} came"
                )

    @property
    def dtypes(self) -> tuple[torch.dtype, ...] | None:
        """The dtypes of which a tensor has one; None for any."""
        if self.dtype is None:
            return None
        return tuple(self.dtype) if isinstance(self.dtype, list | tuple) else (self.dtype,)  # type: ignore[return-value] # checked after making


def _check_end(name: str, value: Any) -> None:
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int | float) or math.isnan(value):
        raise ValueError(f"{name} is a number or None, {value!r} came")


def _check_shape(shape: Any) -> None:
    wanted = 'a shape has one entry a dimension, such as ("batch", 3, None)'
    if isinstance(shape, str) or not isinstance(shape, Sequence):
        raise ValueError(f"{wanted}, {shape!r} came")  # noqa: TRY004 - one kind of error for a wrong setting
    for size in shape:
        is_size = isinstance(size, int) and not isinstance(size, bool) and size >= -1
        if not (size is None or size is ... or is_size or (isinstance(size, str) and size)):
            raise ValueError(f"{wanted}; {size!r} came in it")
    if sum(size is ... for size in shape) > 1:
        raise ValueError(f"{wanted}, and at most one '...'; {tuple(shape)!r} came")
