"""This file is the rows: numbers that tell the rows of a batch from each other, equal where rows are, bit by bit."""

import math

import numpy as np
import torch

# Values of a row that are looked at, evenly spread.
MOST_COLUMNS = 256
# Odd factors below 2^61, so that a sum differs where any value does; the same in every process.
_FACTORS = torch.from_numpy(np.random.Generator(np.random.PCG64(61)).integers(1, 1 << 61, MOST_COLUMNS) | 1)
_BITS = {
    torch.float64: torch.int64,
    torch.float32: torch.int32,
    torch.float16: torch.int16,
    torch.bfloat16: torch.int16,
}


def row_prints(tensor: torch.Tensor, most: int) -> list[int]:
    """Return a number for each of at most so many rows, evenly spread over a batch.

    Args:
        tensor: A tensor that ``has_values``, the batch dimension first.
        most: Most rows.
    """
    if not tensor.dim() or tensor.shape[0] < 1:
        return []
    few = tensor.detach()[:: math.ceil(tensor.shape[0] / most)]
    flat = few.reshape(few.shape[0], -1)
    flat = flat[:, :: math.ceil(flat.shape[1] / MOST_COLUMNS)].contiguous()
    bits = flat.view(_BITS[flat.dtype]) if flat.dtype in _BITS else flat
    factors = _FACTORS[: bits.shape[1]].to(bits.device)
    found: list[int] = (bits.to(torch.int64) * factors).sum(1).tolist()
    return found


def layer_scales(tensor: torch.Tensor, dim: int, most: int) -> tuple[float, float]:
    """Return the greatest mean magnitude of a feature, and the greatest scale of a feature over the least one's.

    The scale of a feature is its deviation or the mean magnitude of its values that are not zero, whichever is greater:
    a column that is hardly ever there is not a small one. Features that do not vary are left out.

    Args:
        tensor: Floating-point values, the batch dimension first.
        dim: The dimension of the features. Where others follow it, as in images, zeros do not count in a magnitude.
        most: Most values that are looked at, all features together.
    """
    rows = max(2, most // max(tensor[0].numel(), 1))
    few = tensor.detach()[:rows].float()
    others = tuple(each for each in range(few.dim()) if each != dim % few.dim())
    sizes = few.abs()
    dense = sizes.sum(others) / torch.count_nonzero(few, others).clamp(min=1)
    means = dense if dim % few.dim() < few.dim() - 1 else sizes.mean(others)
    deviations = few.std(others, correction=0)
    scales = torch.maximum(deviations, dense)[deviations > 0]
    spread = (scales.max() / scales.min()).item() if scales.numel() else 1.0
    return means.max().item(), spread
