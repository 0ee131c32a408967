"""This file is a copy of a loader under other settings, whose passes take nothing from the user's and end in time."""

import contextlib
import copy
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch
from torch.utils.data import DataLoader
from torch.utils.data._utils.signal_handling import (  # type: ignore[attr-defined] # not exported
    _remove_worker_pids,
)

from torchmagic.models.undone import undone
from torchmagic.tuning.finders.deadline import Deadline, TimeIsUpError

IN_THIS_PROCESS: Mapping[str, Any] = {"num_workers": 0, "prefetch_factor": None, "pin_memory": False}
# Batches whose samples are used, again from the first after the last.
_MOST_BATCHES, _MOST_SAMPLES = 256, 1_000_000
_LEAST_WAIT = 1e-3


class Indices(list[Any]):
    """Which samples a batch is made of; going through them in this process ends with the time."""

    deadline: Deadline

    def __iter__(self) -> Iterator[Any]:
        for each in super().__iter__():
            self.deadline.check()
            yield each

    def __reduce__(self) -> tuple[Any, ...]:
        return list, ([*super().__iter__()],)  # for a worker


class Order:
    """What stands in the place of a sampler: the same batches in each pass.

    Args:
        indices: What a sampler gave for each batch.
        is_endless: Whether a pass begins with the first again after the last.
    """

    def __init__(self, indices: Sequence[Any], *, is_endless: bool) -> None:
        self._indices, self._is_endless = indices, is_endless

    def __iter__(self) -> Iterator[Any]:
        return itertools.cycle(self._indices) if self._is_endless else iter(self._indices)

    def __len__(self) -> int:
        return len(self._indices)


def indices_of(loader: DataLoader[Any], deadline: Deadline, most: int = _MOST_BATCHES) -> list[Any]:
    """Return what the samplers of a loader say of its next batches; they and their streams are put back.

    Raises:
        ValueError: If there is no batch, or none without taking it from the user; one line.
    """
    if hasattr(loader.dataset, "__next__") or any(map(_is_used_up, getattr(loader.dataset, "__dict__", {}).values())):
        raise ValueError("the loader's dataset gives each item once, so it cannot be tried out; give one that does not")
    sampler = loader.batch_sampler if loader.batch_sampler is not None else loader.sampler
    with undone(loader.generator, loader.sampler, loader.batch_sampler):
        first = list(itertools.islice(iter(sampler), 1))
        size = len(first[0]) if first and isinstance(first[0], list) else 1
    with undone(loader.generator, loader.sampler, loader.batch_sampler):
        found = list(itertools.islice(iter(sampler), max(1, min(most, _MOST_SAMPLES // max(1, size)))))
    if not found:
        raise ValueError("the loader gives no batch")
    return [_within(each, deadline) for each in found]


def _is_used_up(value: Any) -> bool:
    return hasattr(value, "__next__") and not hasattr(value, "seek")


def _within(indices: Any, deadline: Deadline) -> Any:
    if not isinstance(indices, list):
        return indices
    own = Indices(indices)
    own.deadline = deadline
    return own


def trial_loader(
    loader: DataLoader[Any], setting: Mapping[str, Any], indices: Sequence[Any], *, is_endless: bool = True
) -> DataLoader[Any]:
    """Return a copy of a loader with other settings.

    Args:
        loader: The user's.
        setting: ``num_workers``, ``prefetch_factor``, ``pin_memory``, and perhaps ``persistent_workers``.
        indices: As of ``indices_of``.
        is_endless: Whether a pass goes on without end.
    """
    mine = copy.copy(loader)
    order = Order(indices, is_endless=is_endless)
    vars(mine).update(
        {
            "persistent_workers": False,
            **setting,
            "timeout": 0,
            "generator": torch.Generator(),  # seeds of workers are drawn from it
            "_iterator": None,
            "batch_sampler" if loader.batch_sampler is not None else "sampler": order,
        }
    )
    return mine


@contextlib.contextmanager
def passing(loader: DataLoader[Any], deadline: Deadline) -> Iterator[Iterator[Any]]:
    """Begin a pass over a trial's loader; afterwards its workers have ended, and the dataset is as before.

    Args:
        loader: The trial's.
        deadline: After which waiting for a batch is given up.
    """
    with undone(loader.dataset):
        iterator = iter(loader)
        is_stuck = True
        try:
            yield in_time(iterator, deadline)
            is_stuck = False
        finally:
            end(iterator, at_once=is_stuck and not deadline.left)


def in_time(iterator: Any, deadline: Deadline) -> Iterator[Any]:
    """Yield the batches of a pass.

    Raises:
        TimeIsUpError: If the next one would come too late.
    """
    has_workers = bool(getattr(iterator, "_workers", None))
    while True:
        deadline.check()
        if has_workers:
            iterator._timeout = max(deadline.left, _LEAST_WAIT)  # noqa: SLF001 - the loader's own, read anew for each batch
        try:
            batch = next(iterator)
        except StopIteration:
            return
        except RuntimeError:
            deadline.check()  # it gave up waiting
            raise
        yield batch


def end(iterator: Any, *, at_once: bool = False) -> None:
    """End the workers of a pass, and wait for them.

    Args:
        iterator: The pass; one without workers needs nothing.
        at_once: Whether they are not asked, but killed, as those that are stuck in a sample.
    """
    if at_once and getattr(iterator, "_worker_pids_set", False):
        _remove_worker_pids(id(iterator))  # or else torch would raise an error for their death
        iterator._worker_pids_set = False  # noqa: SLF001 - as above
        for worker in iterator._workers:  # noqa: SLF001 - they have no other name
            worker.kill()
            worker.join()
    stop = getattr(iterator, "_shutdown_workers", None) or getattr(iterator, "close", None)
    if stop is not None:
        stop()


def first_of(loader: DataLoader[Any], setting: Mapping[str, Any], deadline: Deadline) -> Any:
    """Return the first batch of a loader.

    Raises:
        ValueError: If there is none, or reading it takes too long; one line.
    """
    trial = trial_loader(loader, setting, indices_of(loader, deadline, 1), is_endless=False)
    try:
        with passing(trial, deadline) as batches:
            for batch in batches:
                return batch
    except TimeIsUpError:
        raise ValueError(f"reading the first batch took longer than the time limit of {deadline.seconds:g} s") from None
    raise ValueError("the loader gives no batch")
