"""This file is ``Splitting``: how a batch is cut into parts, and how much each part counts in the mean of all."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import torch


def num_samples(batch: Any) -> int | None:
    """Return the first size of all tensors of a batch that have one; None where they have different ones, or none.

    Args:
        batch: A tensor, or dictionaries, tuples and lists of tensors.
    """
    sizes = set(_first_sizes(batch))
    return sizes.pop() if len(sizes) == 1 else None


def samples_of(batch: Any, begin: int, end: int) -> Any:
    """Return some samples of a batch, as views.

    Args:
        batch: A tensor, or dictionaries, tuples and lists of tensors. Tensors, and lists of other things, with as many
            samples are cut; whatever else there is, such as a single number, goes into every part as it is.
        begin: The first sample.
        end: The one after the last.
    """
    return _cut(batch, begin, end, num_samples(batch))


@dataclass(frozen=True, slots=True, kw_only=True)
class Splitting:
    """How a batch is cut into parts, and how much each part counts.

    Args:
        num_samples: Takes a batch and returns how many samples it has; None where it cannot be cut.
        samples: Takes a batch, the first sample and the one after the last; returns these samples as a batch.
        weight: Takes a batch and returns how many terms the loss is the mean of, such as the targets that are not
            ignored; None for the number of samples.

    Raises:
        ValueError: If one of them is no function; one line.
    """

    num_samples: Callable[[Any], int | None] = num_samples
    samples: Callable[[Any, int, int], Any] = samples_of
    weight: Callable[[Any], Any] | None = None

    def __post_init__(self) -> None:
        for name in ("num_samples", "samples", "weight"):
            value = getattr(self, name)
            if not (callable(value) or (name == "weight" and value is None)):
                raise ValueError(f"{name} of a Splitting is a function that takes a batch, {value!r} came")


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """Some samples of a batch.

    Args:
        batch: These samples, or the whole batch itself.
        share: Their share in the mean over the whole batch, above 0 and up to 1.
        num_samples: How many they are; None for a batch that cannot be cut.
    """

    batch: Any
    share: float = 1.0
    num_samples: int | None = None


def pieces_of(batch: Any, most: int | None, splitting: Splitting) -> list[Piece]:
    """Cut a batch into parts of nearly the same size; parts that count nothing are left out.

    Args:
        batch: The batch.
        most: Samples in a part at most; None for no limit.
        splitting: How it is cut.

    Returns:
        One piece with the batch itself where it is small enough.
    """
    size = splitting.num_samples(batch)
    if most is None or size is None or size <= most:
        return [Piece(batch=batch, num_samples=size)]
    count = -(-size // most)
    ends = [size * number // count for number in range(count + 1)]
    batches = [splitting.samples(batch, begin, end) for begin, end in pairwise(ends)]
    sizes = [end - begin for begin, end in pairwise(ends)]
    weights = [float(size) for size in sizes]
    if splitting.weight is not None:
        weights = [float(splitting.weight(each)) for each in batches]
    if not sum(weights):  # a mean of nothing, for which the parts give what the whole batch would give
        weights = [float(size) for size in sizes]
    whole = sum(weights)
    return [
        Piece(batch=each, share=weight / whole, num_samples=size)
        for each, weight, size in zip(batches, weights, sizes, strict=True)
        if weight > 0
    ]


def _first_sizes(value: Any) -> Iterator[int | None]:
    if isinstance(value, torch.Tensor):
        if value.is_nested or value.dim():
            yield None if value.is_nested else int(value.shape[0])
        return
    held = value.values() if isinstance(value, Mapping) else value if isinstance(value, tuple | list) else ()
    for each in held:
        yield from _first_sizes(each)


def _cut(value: Any, begin: int, end: int, size: int | None) -> Any:
    if isinstance(value, torch.Tensor):
        return value[begin:end] if value.dim() and not value.is_nested and value.shape[0] == size else value
    if isinstance(value, Mapping):
        made = {key: _cut(each, begin, end, size) for key, each in value.items()}
        return made if type(value) is dict else _like(value, made)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(_cut(each, begin, end, size) for each in value))
    if isinstance(value, list) and len(value) == size and not any(isinstance(each, torch.Tensor) for each in value):
        return value[begin:end]
    if isinstance(value, tuple | list):
        return type(value)(_cut(each, begin, end, size) for each in value)
    return value


def _like(mapping: Mapping[Any, Any], made: dict[Any, Any]) -> Any:
    """Return the same kind of mapping where it can be made from a dictionary, as transformers' batches can."""
    try:
        return type(mapping)(made)  # type: ignore[call-arg] # tried, not known
    except TypeError:
        return made
