"""This file reads how a data loader is set up, and what may go wrong in its workers."""

import dis
import random
import weakref
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np
import torch
from torch.utils.data import RandomSampler, SequentialSampler, SubsetRandomSampler, WeightedRandomSampler

from torchmagic.probes.sites import Site, place_of
from torchmagic.records.model import LoaderRecord

RANDOM = (RandomSampler, SubsetRandomSampler, WeightedRandomSampler)
GENERATORS = (np.random.Generator, np.random.RandomState, random.Random, torch.Generator)
# Attributes of a dataset that are looked at for generators, and how far down: a subset's dataset's transform.
MOST_ATTRIBUTES, DEEPEST = 64, 3
# How a function for workers learns in which one it runs, beside its argument.
WORKER_SEEDS = frozenset({"initial_seed", "get_worker_info", "getpid", "urandom", "time", "time_ns", "default_rng"})


class Datasets:
    """Numbers dataset objects in order of appearance, without keeping them alive."""

    def __init__(self) -> None:
        self._seen: list[Callable[[], Any]] = []

    def number_of(self, dataset: Any) -> int:
        """Return the number of a dataset object, a new one for an object that was not seen before."""
        for number, ref in enumerate(self._seen):
            if ref() is dataset:
                return number
        try:
            self._seen.append(weakref.ref(dataset))
        except TypeError:  # a list or an array: known by its address while it lives
            address, kind = id(dataset), type(dataset)
            for number, ref in enumerate(self._seen):
                if ref() == (address, kind):
                    return number
            self._seen.append(lambda: (address, kind))
        return len(self._seen) - 1


def record_of(loader: Any, iterator: Any, name: str, site: Site | None, datasets: Datasets) -> LoaderRecord:
    """Return what is known of a loader by itself, or, where it is None, by its iterator."""

    def setting(field: str) -> Any:
        return getattr(iterator, f"_{field}", None) if loader is None else getattr(loader, field, None)

    index_sampler, dataset, init = iterator._index_sampler, setting("dataset"), setting("worker_init_fn")
    sampler = getattr(index_sampler, "sampler", index_sampler)
    return LoaderRecord(
        name=name,
        batch_size=getattr(index_sampler, "batch_size", None),
        num_workers=iterator._num_workers,
        sampler=type(sampler).__name__,
        num_batches=_length(index_sampler),
        shuffle=_shuffles(sampler),
        drop_last=bool(setting("drop_last")),
        pin_memory=bool(setting("pin_memory")),
        persistent_workers=bool(setting("persistent_workers")),
        prefetch_factor=setting("prefetch_factor"),
        collate=_name_of(setting("collate_fn")),
        dataset=type(dataset).__name__,
        num_samples=_length(dataset),
        dataset_number=datasets.number_of(dataset),
        has_generator=setting("generator") is not None,
        worker_init=_name_of(init),
        worker_init_constant=init is not None and _is_constant(init),
        random_attributes=tuple(_generators(dataset, "", 0)),
        place=place_of(site),
    )


def _shuffles(sampler: Any) -> bool | None:
    if isinstance(sampler, RANDOM):
        return True
    if isinstance(sampler, SequentialSampler):
        return False
    shuffle = getattr(sampler, "shuffle", None)  # of a distributed sampler
    return shuffle if isinstance(shuffle, bool) else None


def _length(sized: Any) -> int | None:
    try:
        return len(sized)
    except (TypeError, AttributeError, ValueError, RuntimeError):  # an endless stream has none
        return None


def _name_of(function: Any) -> str:
    return "" if function is None else str(getattr(function, "__name__", type(function).__name__))


def _is_constant(function: Any) -> bool:
    """Whether a function for workers seeds, and reads neither its argument nor a seed that torch gave the worker."""
    if not isinstance(function, FunctionType) or function.__code__.co_argcount != 1:
        return False
    code = function.__code__
    argument = code.co_varnames[0]
    if "seed" not in " ".join(code.co_names) or WORKER_SEEDS.intersection(code.co_names):
        return False
    read = (each.argval for each in dis.get_instructions(code) if each.opname.startswith(("LOAD_FAST", "LOAD_DEREF")))
    return not any(argument in (value if isinstance(value, tuple) else (value,)) for value in read)


def _generators(value: Any, path: str, depth: int) -> list[str]:
    """Return the attributes of a dataset, and of its transforms, that hold a random generator."""
    found: list[str] = []
    attributes = getattr(value, "__dict__", None)
    if depth >= DEEPEST or not isinstance(attributes, dict):
        return found
    for name, held in list(attributes.items())[:MOST_ATTRIBUTES]:
        where = f"{path}.{name}" if path else name
        if isinstance(held, GENERATORS):
            found.append(where)
        elif not isinstance(held, (torch.Tensor, torch.nn.Module, type, FunctionType)):
            found += _generators(held, where, depth + 1)
    return found
