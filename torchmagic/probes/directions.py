"""This file watches optimizers of the user's own: whether their steps go down the gradients, or up."""

from types import FrameType
from typing import Any

import torch

from torchmagic.probes.cast import Cast
from torchmagic.probes.listeners import NEVER
from torchmagic.probes.members import Optimizer
from torchmagic.probes.sites import is_torchs
from torchmagic.probes.taps import Taps
from torchmagic.records.loop import OwnStepsRecord
from torchmagic.session.recorder import Recorder
from torchmagic.tensors.marks import Marks
from torchmagic.tensors.reduce import is_measurable

# Steps that are looked at.
MOST_STEPS = 16


class Directions:
    """Records an ``OwnStepsRecord`` for each optimizer whose class is none of torch's, of its first steps."""

    def __init__(self, cast: Cast) -> None:
        self._cast = cast
        self._taps: Taps | None = None
        self._recorder: Recorder | None = None
        self._marks: Marks | None = None
        self._seen: dict[int, tuple[Optimizer, int, int]] = {}

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Listen for steps."""
        self._taps, self._recorder = taps, recorder
        taps.on("step_begin", self._begin)
        taps.on("step_end", self._end)

    def flush(self, step: int) -> None:
        """Rest for good after the first steps."""
        if step >= MOST_STEPS and self._taps is not None:
            self._taps.rest(self, until=NEVER)

    def detach(self) -> None:
        """Hand over what was seen, and let go of everything."""
        for entry, steps, uphill in self._seen.values():
            if self._recorder is not None:
                self._recorder.add(OwnStepsRecord(optimizer=entry.name, steps=steps, uphill=uphill))
        self._seen.clear()
        self._marks = None

    def _begin(self, optimizer: torch.optim.Optimizer, frame: FrameType) -> None:
        self._marks = None if is_torchs(type(optimizer)) else Marks(_leaves(optimizer))

    def _end(self, optimizer: torch.optim.Optimizer, nanoseconds: int) -> None:
        marks, self._marks = self._marks, None
        leaves = _leaves(optimizer) if marks is not None else []
        if marks is None or len(marks) != len(leaves):
            return
        entry, steps, uphill = self._seen.get(id(optimizer), (self._cast.optimizer(optimizer), 0, 0))
        self._seen[id(optimizer)] = entry, steps + 1, uphill + marks.lie_up_from(leaves)


def _leaves(optimizer: Any) -> list[torch.Tensor]:
    return [each for group in optimizer.param_groups for each in group["params"] if is_measurable(each)]
