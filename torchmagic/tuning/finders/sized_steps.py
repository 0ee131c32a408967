"""This file is steps of one copy of a training by batches of any size: their time, and the memory that they take."""

from collections.abc import Callable

import torch

from torchmagic.analyses.crash_kinds import kind_of
from torchmagic.records.crash import CrashKind
from torchmagic.tuning.batches import Batch
from torchmagic.tuning.contender import Contender
from torchmagic.tuning.copies import Training
from torchmagic.tuning.finders.deadline import Deadline
from torchmagic.tuning.finders.repeats import repeated
from torchmagic.tuning.finders.sample import Sample, resized
from torchmagic.tuning.modes import OptimizationMode


class SizedSteps:
    """Steps by batches of different sizes.

    Args:
        training: What is copied.
        sample: Rows that batches are made of.
        deadline: After which no step is begun.
    """

    def __init__(self, training: Training, sample: Sample, deadline: Deadline) -> None:
        self._sample, self._deadline = sample, deadline
        self._groups: list[list[Batch]] = []
        self._contender = Contender(
            training, OptimizationMode.NONE, groups=self._groups, options={}, clock=deadline.clock
        )
        self.device = self._contender.device
        self.notes = self._contender.setup.notes.lines()

    def begin(self, size: int) -> tuple[int, float | None]:
        """Take up a size, with two steps: the first makes the optimizer's state.

        Returns:
            Its number for ``seconds``; peak of memory in MiB, None where that cannot be measured.

        Raises:
            TimeIsUpError: If there is no time for it.
        """
        self._groups.append([resized(self._sample, size)])
        number = len(self._groups) - 1
        self._deadline.check()
        self._contender.step(number)
        self._deadline.check()
        return number, self._contender.memory(number)

    def seconds(self, number: int) -> float:
        """Return the seconds of a step, a mean over some milliseconds.

        Raises:
            TimeIsUpError: If there is no time for it.
        """
        return repeated(lambda: self._contender.step(number), self._deadline)

    def clear(self) -> None:
        """Let go of the gradients of the last step."""
        self._contender.clear()

    def give_up(self) -> None:
        """Let go of the batch of the size that was taken up last, of its gradients, and of cached memory."""
        self._groups[-1] = []
        self._contender.clear()
        if self.device.type == "cuda":
            torch.cuda.empty_cache()

    def per_sample(self, number: int, size: int) -> Callable[[], float]:
        """Return a trial of a size, of the seconds of a sample."""
        return lambda: self.seconds(number) / size


def is_full(error: BaseException) -> bool:
    """Whether an allocation failed, on the host or on a device."""
    if isinstance(error, MemoryError | torch.cuda.OutOfMemoryError):
        return True
    return isinstance(error, RuntimeError) and kind_of(str(error)) is CrashKind.MEMORY
