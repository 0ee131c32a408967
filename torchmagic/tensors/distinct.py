"""This file counts how many different whole numbers a tensor has."""

import numpy as np
import torch

from torchmagic.tensors.cores import Walk, on_all_cores

# A mark for each number between the ends: 4 MiB a core.
WIDEST = 1 << 22
# Beyond this sorting takes longer than everything else.
MOST_SORTED = 1 << 20


def num_different(values: torch.Tensor, low: int, high: int) -> int | None:
    """Return how many different values there are; None where they are too many, and too wide apart, to count.

    Args:
        values: Whole numbers or truth values in a dense tensor of any shape and strides.
        low: The least of them.
        high: The greatest.
    """
    width = high - low + 1
    if width <= WIDEST:
        marks = on_all_cores(values, lambda walk: _marks(walk, low, width))
        return int(torch.count_nonzero(torch.stack(marks).any(0)))
    if values.numel() <= MOST_SORTED:
        return len(np.unique(values.reshape(-1).cpu().numpy()))
    return None


def _marks(walk: Walk, low: int, width: int) -> torch.Tensor:
    marks = torch.zeros(width, dtype=torch.bool, device="cpu")
    for _, piece in walk:
        # An unsigned 64-bit number beyond int64 wraps round, and so does low: their difference does not change.
        marks[piece.cpu().to(torch.int64) - (low - (1 << 64) if low >= 1 << 63 else low)] = True
    return marks
