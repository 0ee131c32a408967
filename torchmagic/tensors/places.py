"""This file finds where a tensor's first values are that are not finite."""

from collections.abc import Sequence

import torch

from torchmagic.tensors.chunks import as_numbers
from torchmagic.tensors.cores import LONG_PIECE, Walk, walk

# As many indices as a person reads.
MAX_POSITIONS = 8


def first_nonfinite(values: torch.Tensor, dirty: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """Return the indices of the first values that are NaN or infinite, in the order of the elements.

    Args:
        values: A dense tensor of any shape and strides, without gradient.
        dirty: Elements at which pieces begin that have such values, as a scan found them.
    """
    places: list[int] = []
    for begin, piece in _stretches(values, dirty):
        found = torch.nonzero(~torch.isfinite(as_numbers(piece))).view(-1)
        places += [begin + place for place in found[: MAX_POSITIONS - len(places)].tolist()]
        if len(places) == MAX_POSITIONS:
            break
    return tuple(index_of(place, values.shape) for place in places)


def index_of(place: int, shape: Sequence[int]) -> tuple[int, ...]:
    """Return the index of the element that comes after so many others."""
    index: list[int] = []
    for size in reversed(shape):
        place, at = divmod(place, size)
        index.append(at)
    return tuple(reversed(index))


def _stretches(values: torch.Tensor, dirty: Sequence[int]) -> Walk:
    if values.is_contiguous():
        flat = values.view(-1)
        seen = 0
        for begin in dirty:
            start = max(begin, seen)  # a dirty piece may be shorter than what is looked at
            seen = begin + LONG_PIECE
            yield start, flat[start:seen]
        return
    yield from walk(values)
