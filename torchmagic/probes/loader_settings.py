"""This file reads how a data loader is set up, and what may go wrong in its workers."""

import dis
import weakref
from collections.abc import Callable
from types import FunctionType
from typing import Any

from torch.utils.data import RandomSampler, SequentialSampler, SubsetRandomSampler, WeightedRandomSampler

from torchmagic.probes.asking import asked, length_of
from torchmagic.probes.sites import Site, place_of
from torchmagic.probes.worker_randomness import generators_read, line_of_seed, plain_function
from torchmagic.records.model import LoaderRecord

RANDOM = (RandomSampler, SubsetRandomSampler, WeightedRandomSampler)
# Functions of the user's that call each other are followed so far.
DEEPEST = 3
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
        return asked(iterator, f"_{field}") if loader is None else asked(loader, field)

    index_sampler, dataset, init = iterator._index_sampler, setting("dataset"), setting("worker_init_fn")
    sampler = asked(index_sampler, "sampler", index_sampler)
    constant = init is not None and _is_constant(init)
    read = generators_read(dataset, setting("collate_fn")) if iterator._num_workers else ()
    place = place_of(site)
    return LoaderRecord(
        name=name,
        batch_size=asked(index_sampler, "batch_size"),
        num_workers=iterator._num_workers,
        sampler=type(sampler).__name__,
        num_batches=length_of(index_sampler),
        shuffle=_shuffles(sampler),
        drop_last=bool(setting("drop_last")),
        pin_memory=bool(setting("pin_memory")),
        persistent_workers=bool(setting("persistent_workers")),
        prefetch_factor=setting("prefetch_factor"),
        collate=_name_of(setting("collate_fn")),
        dataset=type(dataset).__name__,
        num_samples=length_of(dataset),
        dataset_number=datasets.number_of(dataset),
        has_generator=setting("generator") is not None,
        worker_init=_name_of(init),
        worker_init_constant=constant,
        random_read=read,
        seeded=line_of_seed(read, init, place) if iterator._num_workers > 1 and (constant or read) else None,
        place=place,
    )


def _shuffles(sampler: Any) -> bool | None:
    if isinstance(sampler, RANDOM):
        return True
    if isinstance(sampler, SequentialSampler):
        return False
    shuffle = asked(sampler, "shuffle")  # of a distributed sampler
    return shuffle if isinstance(shuffle, bool) else None


def _name_of(function: Any) -> str:
    return "" if function is None else str(asked(function, "__name__", type(function).__name__))


def _is_constant(function: Any) -> bool:
    """Whether a function for workers seeds, and reads neither its argument nor a seed that torch gave the worker."""
    plain = plain_function(function)
    if plain is None:
        return False
    (function, argument), code = plain, plain[0].__code__
    if not _seeds(function) or WORKER_SEEDS.intersection(code.co_names):
        return False
    read = (each.argval for each in dis.get_instructions(code) if each.opname.startswith(("LOAD_FAST", "LOAD_DEREF")))
    return not any(argument in (value if isinstance(value, tuple) else (value,)) for value in read)


def _seeds(function: FunctionType, depth: int = 0) -> bool:
    """Whether a function seeds, by itself or through a function of the user's that it calls."""
    names = function.__code__.co_names
    if any("seed" in name for name in names):
        return True
    called = (function.__globals__.get(name) for name in names)
    return depth < DEEPEST and any(isinstance(each, FunctionType) and _seeds(each, depth + 1) for each in called)
