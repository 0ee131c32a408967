"""This file is the first batches of a loader, taken without a trace: its passes and random numbers go on as before."""

import copy
import itertools
from contextlib import AbstractContextManager
from typing import Any

from torch.utils.data import DataLoader

from torchmagic.models.streams import untouched_globals
from torchmagic.models.undone import undone

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

    Raises:
        ValueError: If there is none to be had without taking it from the user; one line.
    """
    return first_batches(loader, 1)[0]


def first_batches(loader: DataLoader[Any], most: int) -> list[Any]:
    """Return batches such as the loader's next pass would begin with, at least one.

    They are loaded in this process by an iterator of our own. Random number streams, those of the loader, its samplers
    and its dataset too, are put back, and so are the attributes of samplers and dataset.

    Args:
        loader: The loader.
        most: How many to return at most.

    Raises:
        ValueError: If there is none to be had without taking it from the user; one line.
    """
    dataset = loader.dataset
    if hasattr(dataset, "__next__"):
        raise ValueError("the loader's dataset gives each item once; take a batch yourself and pass that")
    mine = in_this_process(loader)
    with untouched_globals(), undone_by_loading(loader):
        batches = list(itertools.islice(iter(mine), most))
    if not batches:
        raise ValueError("the loader gives no batch")
    return batches


def in_this_process(loader: DataLoader[Any]) -> DataLoader[Any]:
    """Return a copy of a loader over the same dataset that loads in this process."""
    mine = copy.copy(loader)
    vars(mine).update(_IN_THIS_PROCESS)
    return mine


def undone_by_loading(*loaders: DataLoader[Any]) -> AbstractContextManager[None]:
    """Return what puts back, at its end, what loading changes in datasets and samplers of loaders."""
    names = ("dataset", "generator", "sampler", "batch_sampler")
    return undone(*(getattr(loader, name, None) for loader in loaders for name in names))
