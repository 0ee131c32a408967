"""This file is what a training takes from a loader: batches to compare modes on, and groups of batches to step by."""

import contextlib
import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import torch
from torch.utils.data import DataLoader

from torchmagic.models.loader_batch import first_batches
from torchmagic.models.streams import untouched_globals
from torchmagic.probes.unseen import unseen
from torchmagic.tuning.batches import Batch, batch_of


def peeked(loader: Iterable[Any], most: int) -> tuple[list[Any], Iterable[Any]]:
    """Return the first batches of a loader, and what to iterate over afterwards so that none is missed.

    What can be iterated over again is, and random number streams are put back; of what gives each batch once, those
    that were taken come first again.

    Args:
        loader: A ``DataLoader``, or any other iterable of batches.
        most: How many to take at most.

    Raises:
        ValueError: If there is no batch, or none without taking it from the user; one line.
    """
    if isinstance(loader, DataLoader):
        with unseen():
            return first_batches(loader, most), loader
    is_used_up = iter(loader) is loader
    # What comes once must draw its random numbers once.
    with unseen(), contextlib.nullcontext() if is_used_up else untouched_globals():
        iterator = iter(loader)
        batches = list(itertools.islice(iterator, most))
    if not batches:
        raise ValueError("the loader gives no batch")
    return batches, itertools.chain(batches, iterator) if is_used_up else loader


def grouped(
    batches: Iterable[Any], number: int, device: torch.device, *, has_criterion: bool
) -> Iterator[Sequence[Batch]]:
    """Yield what one optimizer step takes: some batches each, of the last step perhaps fewer."""
    iterator = iter(batches)
    while group := list(itertools.islice(iterator, number)):
        yield [batch_of(each, device, has_criterion=has_criterion) for each in group]


def steps_in(loader: Iterable[Any], number: int) -> int | None:
    """Return the optimizer steps of one pass; None where the loader does not know its length."""
    try:
        length = len(loader)  # type: ignore[arg-type] # asked for, not assumed
    except TypeError:
        return None
    return -(-length // number)
