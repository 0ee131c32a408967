"""This file is marks: by which it is seen, later and for little, whether tensors were changed in place."""

import math
from collections.abc import Sequence

import torch

from torchmagic.tensors.changes import sample

# Tensors of which values are compared, and how many values of each.
MOST_COMPARED, MOST_VALUES = 4, 16
# A move this straight against so many gradients is no accident.
PLAIN_STEP, FEWEST = -0.95, 4


class Marks:
    """What leaves of a graph were as a backward left them: their versions, and some values and gradients of the last.

    Args:
        leaves: The leaves; none of them is held.
    """

    def __init__(self, leaves: Sequence[torch.Tensor]) -> None:
        self._versions = versions_of(leaves)
        self._shapes = [leaf.shape for leaf in leaves]
        dense = [(place, slope) for place, leaf in enumerate(leaves) if (slope := _dense_slope(leaf)) is not None]
        self._places = [place for place, _ in dense[-MOST_COMPARED:]]
        self._values = [_some(leaves[place]) for place in self._places]
        self._slopes = [_some(slope) for _, slope in dense[-MOST_COMPARED:]]

    def __len__(self) -> int:
        return len(self._versions)

    def differ_from(self, leaves: Sequence[torch.Tensor]) -> bool:
        """Whether one of the leaves has changed; ``leaf.data -= …`` shows in its values alone."""
        if self._versions != versions_of(leaves):
            return True
        present = (_some(leaves[place]) for place in self._places)
        return not all(torch.equal(*pair) for pair in zip(self._values, present, strict=True))

    def lie_uphill_of(self, leaves: Sequence[torch.Tensor]) -> bool:
        """Whether the leaves went against their gradients since."""
        return self._cosine(leaves) < 0

    def lie_up_from(self, leaves: Sequence[torch.Tensor]) -> bool:
        """Whether the leaves went along with their gradients since."""
        return self._cosine(leaves) > 0

    def lead_down_to(self, others: Sequence[torch.Tensor]) -> bool:
        """Whether other tensors are what the leaves became by a plain step down their gradients."""
        is_known = self._shapes == [leaf.shape for leaf in others] and sum(map(torch.numel, self._values)) >= FEWEST
        return is_known and self._cosine(others) < PLAIN_STEP

    def _cosine(self, leaves: Sequence[torch.Tensor]) -> float:
        """Return the cosine of the angle between how the leaves moved and their gradients."""
        dot = moves = slopes = 0.0
        for place, value, slope in zip(self._places, self._values, self._slopes, strict=True):
            move = _some(leaves[place]) - value
            dot += float((slope.conj() * move).sum().real)
            moves += float(move.abs().square().sum())
            slopes += float(slope.abs().square().sum())
        return dot / math.sqrt(moves * slopes) if moves * slopes > 0 else 0.0


def versions_of(leaves: Sequence[torch.Tensor]) -> list[int]:
    """Return how often each tensor was changed in place, as torch counts it."""
    return [leaf._version for leaf in leaves]  # noqa: SLF001 - documented under this name


def _dense_slope(leaf: torch.Tensor) -> torch.Tensor | None:
    slope = leaf.grad
    return slope if slope is not None and leaf.layout is slope.layout is torch.strided and leaf.numel() else None


def _some(tensor: torch.Tensor) -> torch.Tensor:
    return sample(tensor.detach(), MOST_VALUES).clone()
