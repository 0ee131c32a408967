"""This file is the one pass over a tensor's values on an accelerator: all numbers come back in one transfer."""

import torch

from torchmagic.tensors.chunks import as_numbers
from torchmagic.tensors.cores import walk
from torchmagic.tensors.parts import Found, Part


def scanned_on_device(values: torch.Tensor, tiny: float) -> Found:
    """Walk all values once, in few large pieces.

    Args:
        values: A dense tensor of any shape, dtype and strides, without gradient, on a device that knows float64.
        tiny: The least normal number of its dtype; 0 for whole numbers.
    """
    begins, rows = [], []
    for begin, piece in walk(values):
        if piece.numel():
            begins.append(begin)
            rows.append(_row(as_numbers(piece), tiny))
    found = Found()
    if not rows:
        return found
    for begin, row in zip(begins, torch.stack(rows).tolist(), strict=True):
        num, low, high, mean, std, zero, negative, small, nan, posinf, neginf = row
        if num:
            found.parts.append(Part(int(num), low, high, mean, std, int(zero), int(negative), int(small - zero)))
        if nan or posinf or neginf:
            found.dirty.append(begin)
        found.num_nan += int(nan)
        found.num_posinf += int(posinf)
        found.num_neginf += int(neginf)
    return found


def _row(piece: torch.Tensor, tiny: float) -> torch.Tensor:
    finite = torch.isfinite(piece)
    work = torch.where(finite, piece, 0).to(torch.float64)
    num = finite.sum()
    # Scaled by the largest magnitude, neither sums nor squares overflow or vanish.
    peak = work.abs().max()
    scaled = work / torch.where(peak > 0, peak, 1)
    mean = scaled.sum() / num.clamp(min=1)
    rest = torch.where(finite, scaled - mean, 0)
    std = (torch.dot(rest, rest) / num.clamp(min=1)).sqrt()
    counts = (
        (finite & (work == 0)).sum(),
        (work < 0).sum(),
        (finite & (work.abs() < tiny)).sum() if tiny else (finite & (work == 0)).sum(),
        torch.isnan(piece).sum(),
        (piece == torch.inf).sum(),
        (piece == -torch.inf).sum(),
    )
    low = torch.where(finite, work, torch.inf).min()
    high = torch.where(finite, work, -torch.inf).max()
    return torch.stack([each.to(torch.float64) for each in (num, low, high, mean * peak, std * peak, *counts)])
