"""This file tells whether a tensor's values are finite."""

from typing import Any

import torch
from torch.utils._pytree import tree_leaves


def is_finite(tensor: torch.Tensor) -> bool:
    """Whether all values are finite: one reduction, and a second look only when the sum says no.

    A tensor without values to look at, such as one of integers or on the meta device, counts as finite.
    """
    if not (tensor.is_floating_point() or tensor.is_complex()) or not tensor.numel() or tensor.is_meta:
        return True
    values = tensor.detach()
    try:
        if values.layout is not torch.strided:
            values = values.coalesce().values() if values.layout is torch.sparse_coo else values.values()
        wide = torch.float32 if values.device.type == "mps" else torch.float64  # the only device without it
        total = values.sum(dtype=wide) if values.is_floating_point() else values.abs().sum()
        return bool(torch.isfinite(total)) or bool(torch.isfinite(values).all())
    except (NotImplementedError, RuntimeError):  # a tensor of a kind that cannot be summed, or not read from outside
        return True


def worst(tensors: Any) -> torch.Tensor | None:
    """Return the first of several tensors that is on the CPU and not finite, the first of all where none is."""
    found = [each for each in tree_leaves(tensors) if isinstance(each, torch.Tensor)]
    bad = (each for each in found if each.is_cpu and not is_finite(each))
    return next(bad, found[0] if found else None)


def far_ones(tensors: Any) -> list[torch.Tensor]:
    """Return those of several tensors that lie on a device."""
    return [each for each in tree_leaves(tensors) if isinstance(each, torch.Tensor) and not each.is_cpu]
