"""This file measures time: how a step splits into data, forward, backward, optimizer and the rest."""

from collections.abc import Callable
from typing import Any

import torch

from torchmagic.analyses.time_split import PHASES
from torchmagic.probes.pacing import Pacer
from torchmagic.probes.taps import Taps
from torchmagic.probes.wrappers import now
from torchmagic.session.recorder import Recorder


class Timing:
    """Records ``seconds`` of each phase per step, and tells the pacer how long steps take.

    Times are those of the host: work queued on a device counts where the host waits for it.
    """

    def __init__(self, pacer: Pacer, spent: Callable[[], int], *, records: bool = True) -> None:
        self._pacer, self._spent, self._records = pacer, spent, records
        self._recorder: Recorder | None = None
        self._sums = dict.fromkeys(PHASES, 0)
        self._step_began = now()
        self._spent_before = 0
        self._inside = 0

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Listen for every phase."""
        self._recorder = recorder
        self._step_began = now()
        taps.on("root_end", self._forward)
        taps.on("backward_end", self._backward)
        taps.on("batch", self._batch)
        taps.on("step_begin", self._step_begins)
        taps.on("step_end", self._step_ends)

    def flush(self, step: int) -> None:
        """Close the step: what no phase took is the user's other code."""
        present, spent = now(), self._spent()
        whole = present - self._step_began
        ours = spent - self._spent_before
        self._sums["other"] = max(0, whole - ours - sum(self._sums.values()))
        if self._recorder is not None and self._records:
            self._recorder.append("seconds", [self._sums[phase] / 1e9 for phase in PHASES], PHASES)
        self._sums = dict.fromkeys(PHASES, 0)
        self._step_began, self._spent_before = present, spent
        self._pacer.earn(max(whole - ours, 0))

    def detach(self) -> None:
        """Hand over what came after the last step, such as an evaluation."""
        if self._recorder is not None:
            self.flush(0)
            self._recorder = None

    def _forward(self, module: Any, args: Any, kwargs: Any, output: Any, nanoseconds: int) -> None:
        self._sums["forward"] += nanoseconds

    def _backward(self, tensors: Any, nanoseconds: int) -> None:
        self._sums["backward"] += nanoseconds

    def _batch(self, loader: Any, batch: Any, nanoseconds: int) -> None:
        self._sums["data"] += nanoseconds

    def _step_begins(self, optimizer: torch.optim.Optimizer, frame: Any) -> None:
        self._inside = sum(self._sums.values())

    def _step_ends(self, optimizer: torch.optim.Optimizer, nanoseconds: int) -> None:
        within = sum(self._sums.values()) - self._inside  # a closure runs forward and backward inside the step
        self._sums["optimizer"] += max(0, nanoseconds - within)
