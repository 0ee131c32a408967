"""This file is one trial of a loader's settings: a pass, of which batches are timed with the step beside them."""

import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from torch.utils.data import DataLoader

from torchmagic.tuning.finders.deadline import Deadline
from torchmagic.tuning.finders.trial_loader import in_time, passing, trial_loader

# A trial goes on for so long and so many batches, unless they are so slow that a few must do (s).
_ENOUGH, _FEWEST, _SLOW = 0.15, 4, 2.0
_MOST = 400
# Of passes that begin with workers that are there already.
_NUM_RESTARTS = 4


class LoaderTrial:
    """Times one setting, each time with a pass of its own.

    Args:
        loader: The user's.
        setting: ``num_workers``, ``prefetch_factor`` and ``pin_memory``.
        indices: As of ``indices_of``.
        step: Takes a batch and does, or waits for, what a training does with it.
        wait: Waits until the device has done what it was given.
        deadline: After which a trial is given up.

    Attributes:
        starts: Seconds from the beginning of each pass to its first batch.
        waits: Seconds of waiting for a batch, a mean of each trial.
    """

    def __init__(
        self,
        loader: DataLoader[Any],
        setting: Mapping[str, Any],
        indices: Sequence[Any],
        *,
        step: Callable[[Any], Any],
        wait: Callable[[], None],
        deadline: Deadline,
    ) -> None:
        self._loader, self._setting, self._indices, self._deadline = loader, setting, indices, deadline
        self._step, self._wait = step, wait
        self.starts: list[float] = []
        self.waits: list[float] = []

    def __call__(self) -> float:
        """Return the seconds of a batch and its step.

        Raises:
            TimeIsUpError: If there is no time for it.
            ValueError: If a pass has too few batches.
        """
        clock = self._deadline.clock
        begin = clock()
        with passing(trial_loader(self._loader, self._setting, self._indices), self._deadline) as batches:
            self._step(_next(batches))
            self._wait()
            self.starts.append(clock() - begin)
            for _ in range(self._setting["num_workers"]):  # they all began at once, and are done at once
                self._step(_next(batches))
                if clock() - begin > _SLOW:
                    break
            self._wait()
            return self._timed(batches)

    def _timed(self, batches: Iterator[Any]) -> float:
        clock, fewest = self._deadline.clock, max(_FEWEST, 2 * self._setting["num_workers"])
        begin = clock()
        waited, number, passed = 0.0, 0, 0.0
        while number < _MOST and not (passed > _ENOUGH and (number >= fewest or passed > _SLOW)):
            asked = clock()
            batch = next(batches, None)
            if batch is None and number >= _FEWEST:
                break
            if batch is None:
                raise ValueError("a pass over the dataset has too few batches to be timed")
            waited += clock() - asked
            self._step(batch)
            number, passed = number + 1, clock() - begin
        self._wait()
        passed = clock() - begin
        self.waits.append(waited / number)
        return passed / number

    def figures(self) -> dict[str, float]:
        """Return the medians of waits and starts, in seconds, and of the times of all."""
        if not self.waits:
            return {}
        return {"wait": statistics.median(self.waits), "start": statistics.median(self.starts)}


def _next(batches: Iterator[Any]) -> Any:
    batch = next(batches, None)
    if batch is None:
        raise ValueError("a pass over the dataset has too few batches to be timed")
    return batch


def restarts(
    loader: DataLoader[Any], setting: Mapping[str, Any], indices: Sequence[Any], deadline: Deadline
) -> list[float]:
    """Return the seconds to the first batch of passes whose workers are kept from the pass before.

    Raises:
        TimeIsUpError: If there is no time for it.
    """
    few = indices[: max(2, 2 * setting["num_workers"])]
    kept = trial_loader(loader, {**setting, "persistent_workers": True}, few, is_endless=False)
    found: list[float] = []
    with passing(kept, deadline) as first:
        for _ in first:
            pass
        for _ in range(_NUM_RESTARTS):
            begin = deadline.clock()
            again = in_time(iter(kept), deadline)
            _next(again)
            found.append(deadline.clock() - begin)
            for _ in again:
                pass
    return found


def no_step(_batch: Any) -> None:
    """Do nothing with a batch."""


def step_of(seconds: float) -> Callable[[Any], None]:
    """Return a step that waits for so long, as one does that a device computes."""
    return lambda _: time.sleep(seconds)
