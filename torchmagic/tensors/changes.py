"""This file is how far tensors moved: a copy of them, or of a sample of each, and the comparison with it later."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import torch

from torchmagic.tensors.packing import Packing, packing_of
from torchmagic.tensors.presence import is_stored
from torchmagic.tensors.reduce import is_single_kind, norms, norms_and, packs_well, values_of

# Of a tensor larger than this only an evenly strided sample is copied: a model that fills memory is not doubled.
SAMPLE_SIZE = 1 << 20
# All copies together take no more bytes than this; the samples of a model with very many tensors are smaller.
MOST_BYTES = 1 << 30


class Change(NamedTuple):
    """How a tensor moved.

    Args:
        length: L2 norm of the tensor, or of its sample, before.
        moved: L2 norm of what it, or its sample, moved by.
        swallowed: Share of the elements with a gradient that stayed where they were; NaN where no element had one.
    """

    length: float
    moved: float
    swallowed: float

    @property
    def ratio(self) -> float:
        """Relative change: infinite when zeros moved."""
        if self.length:
            return self.moved / self.length
        return math.inf if self.moved else 0.0


class Copy:
    """A copy of tensors of numbers, to be compared with what becomes of them.

    Args:
        tensors: Not to be empty, sparse or without storage.
    """

    def __init__(self, tensors: Sequence[torch.Tensor]) -> None:
        width = max(tensor.element_size() for tensor in tensors)
        self._limit = max(1, min(SAMPLE_SIZE, MOST_BYTES // (width * len(tensors))))
        # The usual case, by the short way: a small tensor of the plainest kind is its own sample.
        self._whole = all(is_single_kind(each) and each.numel() <= self._limit for each in tensors)
        samples = self._samples(tensors)
        self._packing: Packing | None = None
        if packs_well(samples) and all(each.numel() for each in samples):  # a shard may hold nothing
            self._packing = packing_of(tuple([each.numel() for each in samples]))
            self._values = [self._packing.pack(samples)]
        else:
            self._values = [each.clone() for each in samples]

    def compare(
        self, tensors: Sequence[torch.Tensor], gradients: Sequence[torch.Tensor | None] | None = None
    ) -> list[Change]:
        """Return how each tensor moved since the copy was taken.

        Args:
            tensors: The same tensors in the same order.
            gradients: What should have moved them; None, or one that is sparse or wraps another tensor, says nothing of
                what was swallowed.
        """
        after = self._samples(tensors)
        if gradients is None:
            return self._lengths(after)
        pushes = [self._push(each) for each in gradients]
        if self._packing is not None:
            return self._together(self._packing, after, pushes)
        moves = torch._foreach_sub(after, self._values)  # noqa: SLF001 - the batched difference
        counts = [_counts(move, push) for move, push in zip(moves, pushes, strict=True)]
        lengths, numbers = norms_and([*self._values, *moves], [number for each in counts for number in each])
        values = iter(numbers)
        swallowed = [_swallowed(next(values), next(values)) if each else math.nan for each in counts]
        return list(map(Change, lengths[: len(after)], lengths[len(after) :], swallowed))

    def _samples(self, tensors: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        if self._whole:
            return [tensor.detach() for tensor in tensors]
        return [sample(values_of(tensor), self._limit) for tensor in tensors]

    def _push(self, gradient: torch.Tensor | None) -> torch.Tensor | None:
        """Return what should have moved a sample; None for a gradient whose values are not in its own memory."""
        if gradient is None or gradient.layout is not torch.strided:
            return None
        values = values_of(gradient)
        return sample(values, self._limit) if is_stored(values) else None

    def _lengths(self, after: list[torch.Tensor]) -> list[Change]:
        """Compare lengths alone, which costs half as much."""
        if self._packing is not None:
            before = self._values[0]
            lengths, moves = map(self._packing.norms, (before, self._packing.pack(after).sub_(before)))
        else:
            found = norms([*self._values, *torch._foreach_sub(after, self._values)])  # noqa: SLF001 - all differences
            lengths, moves = found[: len(after)], found[len(after) :]
        return [Change(length, moved, math.nan) for length, moved in zip(lengths, moves, strict=True)]

    def _together(self, packing: Packing, after: list[torch.Tensor], pushes: list[torch.Tensor | None]) -> list[Change]:
        before = self._values[0]
        moved = packing.pack(after).sub_(before)
        pushed = [
            torch.zeros_like(each) if push is None or push.dtype != each.dtype else push
            for each, push in zip(after, pushes, strict=True)
        ]
        pushed_at = packing.pack(pushed).numpy() != 0
        counts = map(packing.counts, (pushed_at, pushed_at & (moved.numpy() == 0)))
        swallowed = [stuck / asked if asked else math.nan for asked, stuck in zip(*counts, strict=True)]
        return list(map(Change, packing.norms(before), packing.norms(moved), swallowed))


def sample(tensor: torch.Tensor, limit: int) -> torch.Tensor:
    """Return a view of about ``limit`` elements, the same ones for all tensors of one shape.

    They are evenly strided slices along the longest dimension; a tensor that has no more is returned whole.
    """
    if tensor.numel() <= limit:
        return tensor
    longest = max(range(tensor.dim()), key=tensor.size)
    places = [slice(None)] * tensor.dim()
    # Odd, so that it does not meet the same columns of an even width each time.
    places[longest] = slice(None, None, -(-tensor.numel() // limit) | 1)
    return tensor[tuple(places)]


def _counts(move: torch.Tensor, push: torch.Tensor | None) -> list[torch.Tensor]:
    """Return how many elements should have moved, and how many did; none where nobody knows."""
    if push is None or push.shape != move.shape:
        return []
    return [torch.count_nonzero(push), torch.count_nonzero(torch.logical_and(push, move))]


def _swallowed(asked: float, moved: float) -> float:
    return 1 - moved / asked if asked else math.nan
