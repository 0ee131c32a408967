"""This file is one batch of a loader, taken without a trace: its passes and its random numbers go on as before."""

import copy
from collections.abc import Iterator
from typing import Any

import torch
from torch.utils.data import DataLoader

from torchmagic.models.streams import untouched_globals

# What makes a copy load in this process, whatever the loader does.
_IN_THIS_PROCESS = {
    "num_workers": 0,
    "prefetch_factor": None,
    "persistent_workers": False,
    "pin_memory": False,
    "timeout": 0,
    "worker_init_fn": None,
    "_iterator": None,
}


def first_batch(loader: DataLoader[Any]) -> Any:
    """Return a batch such as the loader's next pass would begin with.

    It is loaded in this process by an iterator of our own. Random number streams, those of the loader and its samplers
    too, are put back.

    Raises:
        ValueError: If there is none to be had without taking it from the user; one line.
    """
    dataset = loader.dataset
    if hasattr(dataset, "__next__"):
        raise ValueError("the loader's dataset gives each item once; take a batch yourself and pass that")
    mine = copy.copy(loader)
    vars(mine).update(_IN_THIS_PROCESS)
    generators = list(_generators(loader))
    states = [each.get_state() for each in generators]
    try:
        with untouched_globals():
            for batch in iter(mine):
                return batch
    finally:
        for generator, state in zip(generators, states, strict=True):
            generator.set_state(state)
    raise ValueError("the loader gives no batch")


def _generators(loader: DataLoader[Any]) -> Iterator[torch.Generator]:
    batches = getattr(loader, "batch_sampler", None)
    owners = (loader, getattr(loader, "sampler", None), batches, getattr(batches, "sampler", None))
    found = [getattr(owner, "generator", None) for owner in owners]
    yield from {id(each): each for each in found if isinstance(each, torch.Generator)}.values()
