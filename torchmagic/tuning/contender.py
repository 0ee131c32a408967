"""This file is a contender: a fresh copy of a training that one mode steps, with random numbers of its own."""

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Self

import torch

from torchmagic.tensors.accelerators import wait_for
from torchmagic.tuning.agreement import Seen, seen_at
from torchmagic.tuning.batches import Batch
from torchmagic.tuning.copies import Training, copied
from torchmagic.tuning.modes import OptimizationMode
from torchmagic.tuning.peak_memory import peak_memory
from torchmagic.tuning.recipe import applied
from torchmagic.tuning.recipes.catalogue import recipe_of
from torchmagic.tuning.setup import Setup, device_of
from torchmagic.tuning.streams import random_streams
from torchmagic.tuning.training_step import TrainingStep

Clock = Callable[[], float]


class Contender:
    """A copy of a training, stepped by one mode; two of them made at the same moment draw the same random numbers.

    Args:
        training: What is copied; it is not changed.
        mode: How the copy is trained.
        groups: The batches of each step; after the last comes the first again.
        options: Choices of the recipes.
        clock: Tells seconds.

    Raises:
        NoCopyError: If the training cannot be copied.
    """

    def __init__(
        self,
        training: Training,
        mode: OptimizationMode,
        *,
        groups: Sequence[Sequence[Batch]],
        options: Mapping[str, Any],
        clock: Clock = time.perf_counter,
    ) -> None:
        own = copied(training)
        setup = Setup(model=own.model, call=own.model, optimizer=own.optimizer, options=dict(options))
        self.setup = applied(recipe_of(mode), setup)
        if own.num_left_hooks:
            self.setup.notes.remarks.append(f"hooks of the model, {own.num_left_hooks} of them, did not run on copies")
        self.device = device_of(own.model)
        self._run, self._groups, self._clock = TrainingStep(self.setup, own.criterion), groups, clock
        self._streams = random_streams()
        self._losses: list[torch.Tensor] = []
        self._seen: Seen | None = None
        self._throughout = contextlib.ExitStack()

    def __enter__(self) -> Self:
        for context in self.setup.throughout:
            self._throughout.enter_context(context())
        return self

    def __exit__(self, *_: object) -> None:
        self._throughout.close()

    def step(self, number: int) -> float:
        """Do the step of a number, from 0 on in order, and return its seconds."""
        with self._own_streams():
            self._wait()
            begin = self._clock()
            self._do(number)
            self._wait()
            return self._clock() - begin

    def memory(self, number: int) -> float | None:
        """Do the step of a number and return its peak of memory in MiB; None where that cannot be measured."""
        self._run.clear()  # what is released here must not count as memory that the step gives back
        with self._own_streams():
            return peak_memory(lambda: self._do(number), self.device)

    def clear(self) -> None:
        """Let go of the gradients of the last step."""
        self._run.clear()

    def seen(self) -> Seen:
        """Return outputs and gradients of the first step, and the losses of all.

        Raises:
            ValueError: If no step was done.
        """
        if self._seen is None:
            raise ValueError("no step was done yet")
        losses = torch.stack([each.float() for each in self._losses]).tolist()
        return Seen(outputs=self._seen.outputs, gradients=self._seen.gradients, losses=tuple(losses))

    @contextlib.contextmanager
    def _own_streams(self) -> Iterator[None]:
        self._streams()
        yield
        self._streams = random_streams()

    def _do(self, number: int) -> None:
        batches = self._groups[number % len(self._groups)]
        self._losses.append(self._run(batches, None if self._seen is not None else self._look))

    def _look(self, outputs: Sequence[Any], _loss: torch.Tensor) -> None:
        self._seen = seen_at(outputs, self.setup.model)

    def _wait(self) -> None:
        wait_for(self.device)
