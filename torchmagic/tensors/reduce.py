"""This file is the reductions over many tensors at once, with one transfer to the host."""

import math
from collections.abc import Sequence

import torch
from torch._utils import _flatten_dense_tensors

# Below this many tensors, or above this many numbers, packing them costs more than it saves (measured on a CPU).
FEW = 12
SMALL = 2_000_000


def norms(tensors: Sequence[torch.Tensor]) -> list[float]:
    """Return the L2 norm of each tensor, accumulated in float32 for half types; sparse tensors by their values."""
    if not tensors:
        return []
    dense = [_dense(tensor) for tensor in tensors]
    half = any(tensor.dtype in (torch.float16, torch.bfloat16) for tensor in dense)
    found = torch._foreach_norm(dense, 2, dtype=torch.float32) if half else torch._foreach_norm(dense, 2)  # noqa: SLF001 - the batched norm that clip_grad_norm_ uses
    return fetch(found)


def fetch(scalars: Sequence[torch.Tensor]) -> list[float]:
    """Return the values of zero-dim tensors: one by one on the CPU, in one transfer from a device."""
    if all(scalar.device.type == "cpu" for scalar in scalars):
        return [scalar.item() for scalar in scalars]
    first = next(scalar.device for scalar in scalars if scalar.device.type != "cpu")
    together = torch.stack([scalar.to(device=first, dtype=torch.float32) for scalar in scalars])
    return together.tolist()


def total_norm(values: Sequence[float]) -> float:
    """Return the L2 norm of all tensors together from their norms; NaN and infinity come through."""
    return math.sqrt(sum(value * value for value in values)) if values else 0.0


def packs_well(tensors: Sequence[torch.Tensor]) -> bool:
    """Whether copying these tensors, or ones like them, into one is the cheapest way to their norm."""
    if len(tensors) <= FEW or sum(tensor.numel() for tensor in tensors) > SMALL:
        return False
    kinds = {(tensor.dtype, tensor.device.type, tensor.layout) for tensor in tensors}
    return kinds in ({(torch.float32, "cpu", torch.strided)}, {(torch.float64, "cpu", torch.strided)})


def quick_total(tensors: Sequence[torch.Tensor], *, pack: bool) -> float:
    """Return the L2 norm of all tensors together by the cheapest way there is; NaN and infinity come through.

    Args:
        tensors: Tensors of any shapes.
        pack: What ``packs_well`` said of them.
    """
    if pack:
        try:
            flat = _flatten_dense_tensors(tensors)  # type: ignore[no-untyped-call] # torch
            return math.sqrt(torch.dot(flat, flat).item())
        except RuntimeError:  # a gradient of another kind than its parameter, such as a sparse one
            pass
    return total_norm(norms(tensors))


def moments(tensor: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Return sum, sum of squares, least, greatest and number of non-zeros as zero-dim tensors."""
    flat = _dense(tensor).reshape(-1)
    if flat.dtype in (torch.float16, torch.bfloat16):
        flat = flat.float()
    low, high = torch.aminmax(flat)
    return flat.sum(), torch.dot(flat, flat), low, high, torch.count_nonzero(flat)


def _dense(tensor: torch.Tensor) -> torch.Tensor:
    if tensor.layout is torch.strided:
        return tensor.abs() if tensor.is_complex() else tensor
    return tensor.coalesce().values() if tensor.layout is torch.sparse_coo else tensor.values()
