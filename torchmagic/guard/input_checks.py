"""This file is the checks of one tensor against what it has to be like: a sentence for each that fails."""

from collections.abc import Iterator
from typing import Any

import torch

from torchmagic.guard.extent import Extent, extent_of
from torchmagic.guard.input_spec import InputSpec, Shape
from torchmagic.models.shapes import shapes_of

# Sizes by the name that they have in shapes, with what had the name first.
Sizes = dict[str, tuple[int, str]]


def failures_of(tensor: torch.Tensor, label: str, spec: InputSpec, sizes: Sizes) -> Iterator[str]:
    """Yield a sentence for each check that a tensor fails.

    Args:
        tensor: The tensor.
        label: What the sentences call it, such as ``Input`` or ``Input image``.
        spec: What it has to be like.
        sizes: Named sizes found so far in the same batch; those of this tensor are added.
    """
    dtypes = spec.dtypes
    if dtypes is not None and tensor.dtype not in dtypes:
        yield f"{label} must be {' or '.join(map(_plain, dtypes))} ({_plain(tensor.dtype)} came)"
    if spec.device is not None and not _is_on(tensor.device, torch.device(spec.device)):
        yield f"{label} must be on {spec.device} (it is on {tensor.device})"
    yield from _shape_failures(tensor, label, spec.shape, sizes)
    if not spec.empty and not tensor.is_nested and not tensor.numel():
        yield f"{label} is empty (its shape is {shapes_of(tensor)})"
    if spec.finite or spec.minimum is not None or spec.maximum is not None:
        extent = extent_of(tensor) if tensor.dtype is not torch.bool else None
        if extent is not None:
            yield from _value_failures(extent, label, spec)


def _value_failures(extent: Extent, label: str, spec: InputSpec) -> Iterator[str]:
    if spec.finite and extent.num_nonfinite:
        where = "" if extent.at is None else f", the first at {list(extent.at)}"
        infinite = extent.num_posinf + extent.num_neginf
        yield f"{label} contains NaN or infinite values ({extent.num_nan} NaN, {infinite} infinite{where})"
    low, high = (extent.low, extent.high) if spec.finite else extent.ends
    if spec.minimum is not None and spec.maximum == -spec.minimum:
        if max(-low, high) > spec.maximum:
            largest = f"the largest magnitude is {max(-low, high):g}"
            yield f"{label} values too large ({largest}, at most {spec.maximum:g} was wanted)"
        return
    if spec.maximum is not None and high > spec.maximum:
        yield f"{label} values too large (up to {high:g}, at most {spec.maximum:g} was wanted)"
    if spec.minimum is not None and low < spec.minimum:
        yield f"{label} values too small (down to {low:g}, at least {spec.minimum:g} was wanted)"


def _shape_failures(tensor: torch.Tensor, label: str, shape: Shape | None, sizes: Sizes) -> Iterator[str]:
    if shape is None:
        return
    if tensor.is_nested:
        yield f"{label} must be of shape {_told(shape)} (a nested tensor came, which has no single shape)"
        return
    came = tuple(map(int, tensor.shape))
    pairs = _paired(shape, came)
    if pairs is None:
        free = len(shape) > 0 and all(size is None or size == -1 for size in shape)
        wanted = f"{len(shape)}-dimensional" if free else f"of shape {_told(shape)}"
        yield f"{label} must be {wanted} ({_told(came)} came)"
        return
    wrong, known = False, []
    for wanted_size, size in pairs:
        if isinstance(wanted_size, int) and wanted_size not in (-1, size):
            wrong = True
        if isinstance(wanted_size, str):
            first, owner = sizes.setdefault(wanted_size, (size, label))
            if first != size:
                known.append(f"{wanted_size} is {first} in {owner}")
    if wrong or known:
        yield f"{label} must be of shape {_told(shape)} ({'; '.join([f'{_told(came)} came', *known])})"


def _paired(shape: Shape, came: tuple[int, ...]) -> list[tuple[int | str | None, int]] | None:
    """Return what was wanted of each size with the size, without those that ``...`` stands for; None for no match."""
    if ... not in shape:
        return list(zip(shape, came, strict=True)) if len(shape) == len(came) else None  # type: ignore[arg-type] # no ...
    at = list(shape).index(...)
    after = len(shape) - at - 1
    if len(came) < at + after:
        return None
    ends = (*came[:at], *came[len(came) - after :])
    return list(zip([size for size in shape if size is not ...], ends, strict=True))


def _told(shape: Shape) -> str:
    words: dict[Any, str] = {None: "any", -1: "any", ...: "..."}
    return "×".join(words.get(size, str(size)) for size in shape) or "scalar"


def _plain(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _is_on(device: torch.device, wanted: torch.device) -> bool:
    return device.type == wanted.type and wanted.index in (None, device.index)
