"""This file is how far tensors moved: a copy of them, or of a sample of each, and the comparison with it later."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from torchmagic.tensors.packing import Packed, Packing, packable_sizes, packing_of
from torchmagic.tensors.presence import is_stored
from torchmagic.tensors.reduce import SMALL, is_measurable, norms_and, values_of

# Of a tensor larger than this only an evenly strided sample is copied: a model that fills memory is not doubled.
SAMPLE_SIZE = 1 << 20
# All copies together take no more bytes than this; the samples of a model with very many tensors are smaller.
MOST_BYTES = 1 << 30


class Changes(NamedTuple):
    """How tensors moved, one number for each.

    Args:
        lengths: L2 norm of the tensor, or of its sample, before.
        moves: L2 norm of what it, or its sample, moved by.
        swallowed: Share of the elements with a gradient that stayed where they were; NaN where no element had one.
    """

    lengths: NDArray[np.float64]
    moves: NDArray[np.float64]
    swallowed: NDArray[np.float64]

    def ratios(self) -> list[float]:
        """Return the relative changes: infinite where zeros moved, 0 where they did not."""
        with np.errstate(all="ignore"):
            found = np.where((self.lengths == 0) & (self.moves == 0), 0.0, self.moves / self.lengths)
        return found.tolist()  # type: ignore[no-any-return] # NumPy


class Copy:
    """A copy of tensors of numbers, to be compared with what becomes of them.

    Args:
        tensors: Not to be empty, sparse or without storage.
        sizes: What ``packable_sizes`` says of them, where it is known.
    """

    def __init__(self, tensors: Sequence[torch.Tensor], sizes: tuple[int, ...] | None = None) -> None:
        if sizes is None:
            sizes = packable_sizes(tensors)
        self._packing: Packing | None = packing_of(sizes) if sizes and sum(sizes) <= min(SMALL, SAMPLE_SIZE) else None
        if self._packing is not None:
            self._packed = self._packing.pack(tensors)
            return
        width = max(tensor.element_size() for tensor in tensors)
        self._limit = max(1, min(SAMPLE_SIZE, MOST_BYTES // (width * len(tensors))))
        self._values = [each.clone() for each in self._samples(tensors)]

    def compare(
        self,
        tensors: Sequence[torch.Tensor],
        gradients: Sequence[torch.Tensor | None] | None = None,
        packed: Packed | None = None,
    ) -> Changes | None:
        """Return how each tensor moved since the copy was taken; None where one has another shape, or no values, now.

        Args:
            tensors: The same tensors in the same order.
            gradients: What should have moved them; None, or one that is sparse or wraps another tensor, says nothing of
                what was swallowed.
            packed: Those of them that are there, in one array, where somebody has put them so.
        """
        if self._packing is not None:
            if not self._packing.takes(tensors):
                return None
            if gradients is None:
                return self._together(self._packing, tensors, None)
            fits = packed is not None and packed.packing.sizes == self._packing.sizes
            pushes = packed.values if packed is not None and fits else _packed(self._packing, tensors, gradients)
            return self._together(self._packing, tensors, pushes)
        if len(tensors) < len(self._values) or not all(map(is_measurable, tensors)):
            return None
        after = self._samples(tensors)
        if [each.shape for each in after] != [each.shape for each in self._values]:
            return None
        differences = torch._foreach_sub(after, self._values)  # noqa: SLF001 - the batched difference
        asking = [None] * len(after) if gradients is None else [self._push(each) for each in gradients]
        counts = [_counts(move, push) for move, push in zip(differences, asking, strict=True)]
        found, numbers = norms_and([*self._values, *differences], [number for each in counts for number in each])
        values = iter(numbers)
        swallowed = [_swallowed(next(values), next(values)) if each else math.nan for each in counts]
        lengths, moves = np.array(found).reshape(2, -1)
        return Changes(lengths, moves, np.array(swallowed))

    def _samples(self, tensors: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        return [sample(values_of(tensor), self._limit) for tensor in tensors]

    def _push(self, gradient: torch.Tensor | None) -> torch.Tensor | None:
        """Return what should have moved a sample; None for a gradient whose values are not in its own memory."""
        dense = _dense(gradient)
        return None if dense is None else sample(dense, self._limit)

    def _together(
        self, packing: Packing, tensors: Sequence[torch.Tensor], pushes: NDArray[np.floating] | None
    ) -> Changes:
        moved = packing.pack(tensors)
        with np.errstate(all="ignore"):
            moved -= self._packed
        swallowed = np.full(len(tensors), math.nan)
        if pushes is not None:
            pushed = pushes != 0
            asked, stuck = packing.numbers(pushed), packing.numbers(pushed & (moved == 0))
            np.divide(stuck, asked, out=swallowed, where=asked > 0)
        return Changes(packing.norms(self._packed), packing.norms(moved), swallowed)


def _dense(gradient: torch.Tensor | None) -> torch.Tensor | None:
    if gradient is None or gradient.layout is not torch.strided:
        return None
    values = values_of(gradient)
    return values if is_stored(values) else None


def _packed(
    packing: Packing, tensors: Sequence[torch.Tensor], gradients: Sequence[torch.Tensor | None]
) -> NDArray[np.floating]:
    """Return gradients as the tensors are packed: zeros in the place of one that cannot be."""
    held = [each for each in gradients if each is not None]
    if packable_sizes(held) == packing.sizes:  # the usual case, by the short way
        return packing.pack(held)
    alike = []
    for tensor, gradient in zip(tensors, map(_dense, gradients), strict=True):
        fits = gradient is not None and gradient.dtype == tensor.dtype and gradient.shape == tensor.shape
        alike.append(gradient if gradient is not None and fits else torch.zeros_like(tensor))
    return packing.pack(alike)


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
