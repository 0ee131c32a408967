"""This file reads the labels and indices of a crash: which of them are out of range, and of how many."""

import re
from typing import Any, NamedTuple

import torch

from torchmagic.probes.crash_frames import Entry, names_in
from torchmagic.records.crash import CrashKind

# More values than this are not searched; the message names one of them.
MOST_VALUES = 50_000_000
_TARGET = re.compile(r"Target (-?\d+) is out of bounds")
_INDEX = re.compile(r"index (-?\d+) is out of bounds for dimension \d+ with size (\d+)")
_TAKES = re.compile(r"takes value (-?\d+) which is not in the valid range \[0, (\d+)\)")
_SELECT = re.compile(r"index (-?\d+) out of range for tensor of size \[([\d, ]*)\] at dimension (\d+)")
_TAKE = re.compile(r"tried to access index (-?\d+) on a tensor of (\d+) elements")


class Extent(NamedTuple):
    """The value out of range, the number of classes or rows, how many of how many are out, and if they are alike."""

    value: int | None = None
    limit: int | None = None
    num_bad: int = 0
    num_values: int = 0
    alike: bool = False


def extent(
    kind: CrashKind, message: str, operation: Entry | None, named: list[tuple[str, torch.Tensor]]
) -> Extent | None:
    """Return what is out of range; None where the crash is of another kind."""
    if kind not in (CrashKind.LABEL, CrashKind.INDEX):
        return None
    told = _told(message)
    held = dict(names_in(operation.frame)) if operation is not None else {}
    if kind is CrashKind.LABEL and isinstance(held.get("target"), torch.Tensor):
        return _of_target(held, told)
    if isinstance(held.get("weight"), torch.Tensor) and isinstance(held.get("input"), torch.Tensor):
        return counted(held["input"], int(held["weight"].shape[0]), told)
    whole = [tensor for _, tensor in named if _is_whole(tensor)]
    if told.limit is None and kind is CrashKind.INDEX:
        others = [tensor for _, tensor in named if tensor.dim() and not _is_whole(tensor)]
        told = told._replace(limit=int(others[0].shape[0])) if len(others) == 1 else told
    return counted(whole[0], told.limit, told) if len(whole) == 1 else told


def _told(message: str) -> Extent:
    """Return the numbers that the message itself gives."""
    if (found := _TARGET.search(message)) is not None:
        return Extent(value=int(found[1]))
    for pattern in (_INDEX, _TAKES, _TAKE):
        if (found := pattern.search(message)) is not None:
            return Extent(value=int(found[1]), limit=int(found[2]))
    if (found := _SELECT.search(message)) is not None:
        sizes = [int(size) for size in found[2].split(",") if size.strip()]
        return Extent(value=int(found[1]), limit=sizes[int(found[3])])
    return Extent()


def _of_target(held: dict[str, Any], told: Extent) -> Extent:
    given, target = held.get("input"), held["target"]
    if not isinstance(given, torch.Tensor) or not given.dim():
        return told
    if target.is_floating_point():  # a binary cross-entropy
        return _outside(target)
    classes = int(given.shape[1] if given.dim() > 1 else given.shape[0])
    return counted(target, classes, told, ignored=held.get("ignore_index"))


def counted(values: torch.Tensor, limit: int | None, told: Extent, *, ignored: Any = None) -> Extent:
    """Count the whole numbers outside of 0 to limit; those of a device that may have stopped are not read."""
    if limit is None or values.device.type != "cpu" or not 0 < values.numel() <= MOST_VALUES or not _is_whole(values):
        return told._replace(limit=told.limit if limit is None else limit)
    values = values.detach()
    bad = (values < 0) | (values >= limit)
    if isinstance(ignored, int):
        bad &= values != ignored
    worst = values[bad]
    if not worst.numel():
        return told._replace(limit=limit)
    value = told.value
    if value is None:
        value = int(worst.max()) if int(worst.max()) >= limit else int(worst.min())
    return Extent(value, limit, int(worst.numel()), int(values.numel()), bool((worst == value).all()))


def _outside(target: torch.Tensor) -> Extent:
    if target.device.type != "cpu" or not 0 < target.numel() <= MOST_VALUES:
        return Extent()
    worst = target.detach()[(target < 0) | (target > 1)]
    if not worst.numel():
        return Extent()
    extreme = worst.max() if float(worst.max()) > 1 else worst.min()
    whole = float(extreme).is_integer()
    return Extent(int(extreme) if whole else None, 2, int(worst.numel()), int(target.numel()))


def _is_whole(tensor: torch.Tensor) -> bool:
    return tensor.layout is torch.strided and not (
        tensor.is_floating_point() or tensor.is_complex() or tensor.dtype is torch.bool or tensor.is_quantized
    )
