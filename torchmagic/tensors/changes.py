"""This file is how far tensors moved: a copy of them, or of a sample of each, and the comparison with it later."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch._utils import _flatten_dense_tensors

from torchmagic.tensors.presence import is_stored
from torchmagic.tensors.reduce import is_single_kind, norms, norms_and, norms_of_singles, packs_well, values_of

# Of a tensor larger than this only an evenly strided sample is copied: a model that fills memory is not doubled.
SAMPLE_SIZE = 1 << 20
# All copies together take no more bytes than this; the samples of a model with very many tensors are smaller.
MOST_BYTES = 1 << 30

# Up to so many tensors lengths are taken one by one.
FEW = 12


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
        samples = [self._sample(tensor) for tensor in tensors]
        self._pack = packs_well(samples) and all(each.numel() for each in samples)  # a shard may hold nothing
        if self._pack and len(samples) > 1:  # of a single tensor torch would answer a view
            self._values = [_flat(samples)]
        else:
            self._values = [each.clone().view(-1) if self._pack else each.clone() for each in samples]
        self._sizes = [each.numel() for each in samples]

    def compare(
        self, tensors: Sequence[torch.Tensor], gradients: Sequence[torch.Tensor | None] | None = None
    ) -> list[Change]:
        """Return how each tensor moved since the copy was taken.

        Args:
            tensors: The same tensors in the same order.
            gradients: What should have moved them; None, or one that is sparse or wraps another tensor, says nothing of
                what was swallowed.
        """
        after = [self._sample(tensor) for tensor in tensors]
        if gradients is None:
            return self._lengths(after)
        pushes = [self._push(each) for each in gradients]
        if self._pack:
            return self._together(after, pushes)
        moves = torch._foreach_sub(after, self._values)  # noqa: SLF001 - the batched difference
        counts = [_counts(move, push) for move, push in zip(moves, pushes, strict=True)]
        lengths, numbers = norms_and([*self._values, *moves], [number for each in counts for number in each])
        values = iter(numbers)
        swallowed = [_swallowed(next(values), next(values)) if each else math.nan for each in counts]
        return list(map(Change, lengths[: len(after)], lengths[len(after) :], swallowed))

    def _sample(self, tensor: torch.Tensor) -> torch.Tensor:
        if is_single_kind(tensor) and tensor.numel() <= self._limit:  # the usual case, by the short way
            return tensor.detach()
        return sample(values_of(tensor), self._limit)

    def _push(self, gradient: torch.Tensor | None) -> torch.Tensor | None:
        """Return what should have moved a sample; None for a gradient whose values are not in its own memory."""
        if gradient is None or gradient.layout is not torch.strided:
            return None
        values = values_of(gradient)
        return sample(values, self._limit) if is_stored(values) else None

    def _lengths(self, after: list[torch.Tensor]) -> list[Change]:
        """Compare lengths alone, which costs half as much."""
        before = self._values
        if self._pack and len(after) > FEW:
            sizes = np.array(self._sizes)
            starts = np.cumsum(sizes) - sizes
            values = before[0].numpy(), _flat(after).sub_(before[0]).numpy()
            with np.errstate(all="ignore"):  # NaN and infinity come through
                squares = (np.add.reduceat(np.square(each, dtype=np.float64), starts) for each in values)
                length, move = (np.sqrt(each).tolist() for each in squares)
            return [Change(*pair, math.nan) for pair in zip(length, move, strict=True)]
        if self._pack and len(after) > 1:
            before = [part.view_as(each) for part, each in zip(torch.split(before[0], self._sizes), after, strict=True)]
        elif self._pack:
            before = [before[0].view_as(after[0])]
        moves = torch._foreach_sub(after, before)  # noqa: SLF001 - the batched difference
        found = norms_of_singles([*before, *moves]) if self._pack else norms([*before, *moves])
        return [Change(*pair, math.nan) for pair in zip(found[: len(after)], found[len(after) :], strict=True)]

    def _together(self, after: list[torch.Tensor], pushes: list[torch.Tensor | None]) -> list[Change]:
        before, sizes = self._values[0], np.array(self._sizes)
        starts = np.cumsum(sizes) - sizes
        moved = (_flat(after) - before).numpy()
        pushed_at = _flat([
            torch.zeros_like(each) if push is None or push.dtype != each.dtype else push
            for each, push in zip(after, pushes, strict=True)
        ]).numpy() != 0  # fmt: skip
        with np.errstate(all="ignore"):  # NaN and infinity come through
            length = np.sqrt(np.add.reduceat(np.square(before.numpy(), dtype=np.float64), starts))
            move = np.sqrt(np.add.reduceat(np.square(moved, dtype=np.float64), starts))
            asked = np.add.reduceat(pushed_at, starts, dtype=np.int64)
            stuck = np.add.reduceat(pushed_at & (moved == 0), starts, dtype=np.int64)
            shares = np.where(asked > 0, stuck / asked, math.nan)
        return list(map(Change, length.tolist(), move.tolist(), shares.tolist()))


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


def _flat(tensors: list[torch.Tensor]) -> torch.Tensor:
    return _flatten_dense_tensors(tensors)  # type: ignore[no-untyped-call, no-any-return] # torch
