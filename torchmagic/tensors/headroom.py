"""This file is how much of its dtype's range a tensor uses, and whether it would fit into a narrower one."""

import torch

from torchmagic.records.tensor_relations import Headroom

# What training casts to; bfloat16 has float32's range.
_HALVES = (torch.float16,)


def headroom(dtype: torch.dtype, abs_max: float | None) -> tuple[Headroom, ...]:
    """Return the share of the greatest number that is used: of the own dtype, and of float16 for wider ones.

    Args:
        dtype: Of the values.
        abs_max: Their largest finite magnitude; None without one.
    """
    if abs_max is None or not dtype.is_floating_point:
        return ()
    narrower = () if dtype.itemsize < torch.float32.itemsize else _HALVES
    return tuple(_headroom(each, abs_max, is_own=each == dtype) for each in (dtype, *narrower))


def _headroom(dtype: torch.dtype, abs_max: float, *, is_own: bool) -> Headroom:
    greatest = float(torch.finfo(dtype).max)
    name = str(dtype).removeprefix("torch.")
    return Headroom(dtype=name, is_own=is_own, greatest=greatest, share=abs_max / greatest)
