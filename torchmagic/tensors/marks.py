"""This file is marks: by which it is seen, later and for little, whether tensors were changed in place."""

import math
from collections.abc import Sequence

import torch

from torchmagic.tensors.changes import sample
from torchmagic.tensors.near import all_brought_near

# Tensors of which values are compared, and how many values of each.
MOST_COMPARED, MOST_VALUES = 4, 16
# A move this straight against so many gradients is no accident.
PLAIN_STEP, FEWEST = -0.95, 4


class Marks:
    """What leaves of a graph were as a backward left them: their versions, and some values and gradients of the last.

    Args:
        leaves: The leaves; none of them is held.
        slopes: The gradient of each, None for those in ``.grad``.
    """

    def __init__(self, leaves: Sequence[torch.Tensor], slopes: Sequence[torch.Tensor | None] | None = None) -> None:
        self._versions = versions_of(leaves)
        self._shapes = [leaf.shape for leaf in leaves]
        slopes = [leaf.grad for leaf in leaves] if slopes is None else slopes
        pairs = enumerate(zip(leaves, slopes, strict=True))
        dense = [(place, slope) for place, (leaf, slope) in pairs if slope is not None and _are_dense(leaf, slope)]
        self._places = [place for place, _ in dense[-MOST_COMPARED:]]
        some = _some([*(leaves[place] for place in self._places), *(slope for _, slope in dense[-MOST_COMPARED:])])
        self._values, self._slopes = some[: len(self._places)], some[len(self._places) :]

    def __len__(self) -> int:
        return len(self._versions)

    def differ_from(self, leaves: Sequence[torch.Tensor]) -> bool:
        """Whether one of the leaves has changed; ``leaf.data -= …`` shows in its values alone."""
        if self._versions != versions_of(leaves):
            return True
        present = _some([leaves[place] for place in self._places])
        return not all(_are_same(*pair) for pair in zip(self._values, present, strict=True))

    def lie_uphill_of(self, leaves: Sequence[torch.Tensor]) -> bool:
        """Whether the leaves went against their gradients since."""
        return self._cosine(leaves) < 0

    def lie_up_from(self, leaves: Sequence[torch.Tensor]) -> bool:
        """Whether the leaves went along with their gradients since."""
        return self._cosine(leaves) > 0

    def fit(self, others: Sequence[torch.Tensor]) -> bool:
        """Whether other tensors have the shapes of the leaves."""
        return self._shapes == [leaf.shape for leaf in others]

    def lead_down_to(self, others: Sequence[torch.Tensor], *, plainly: bool = True) -> bool:
        """Whether other tensors are what the leaves became by a step down their gradients, or down to NaN.

        Args:
            others: The other tensors.
            plainly: Whether it was straight down.
        """
        if not self.fit(others) or sum(map(torch.numel, self._values)) < FEWEST:
            return False
        cosine = self._cosine(others)
        return cosine < (PLAIN_STEP if plainly else 0.0) or math.isnan(cosine)

    def _cosine(self, leaves: Sequence[torch.Tensor]) -> float:
        """Return the cosine of the angle between how the leaves moved and their gradients; NaN where all are NaN."""
        dot = moves = slopes = 0.0
        is_known = not self._places
        present = _some([leaves[place] for place in self._places])
        for now, value, slope in zip(present, self._values, self._slopes, strict=True):
            move = now - value
            known = torch.isfinite(move) & torch.isfinite(slope)
            is_known = is_known or bool(known.any())
            dot += float((slope.conj() * move)[known].sum().real)
            moves += float(move[known].abs().square().sum())
            slopes += float(slope[known].abs().square().sum())
        if not is_known:
            return math.nan
        return dot / math.sqrt(moves * slopes) if moves * slopes > 0 else 0.0


def versions_of(leaves: Sequence[torch.Tensor]) -> list[int]:
    """Return how often each tensor was changed in place, as torch counts it."""
    return [leaf._version for leaf in leaves]  # noqa: SLF001 - documented under this name


def _are_same(one: torch.Tensor, other: torch.Tensor) -> bool:
    return torch.equal(one, other) or torch.equal(one.nan_to_num(), other.nan_to_num())


def _are_dense(leaf: torch.Tensor, slope: torch.Tensor) -> bool:
    return leaf.layout is slope.layout is torch.strided and leaf.numel() > 0


def _some(tensors: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """Return some values of each tensor, on the host; from a device they come together."""
    some = [sample(tensor.detach(), MOST_VALUES) for tensor in tensors]
    some = [each if each.is_cpu else each.reshape(-1) for each in some]  # a class of the user's may not know how
    return [near.clone() if near is own else near for near, own in zip(all_brought_near(some), some, strict=True)]
