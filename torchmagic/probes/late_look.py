"""This file is the late look: at what a backward left as it ends, where the step would come too late for the line."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import torch

from torchmagic.probes.births import Births
from torchmagic.probes.far_losses import FarLosses
from torchmagic.probes.listeners import NEVER
from torchmagic.probes.origin_memory import StepMemory
from torchmagic.probes.origin_witness import Witnesses
from torchmagic.probes.taps import Taps

# After a step whose backward is out of sight when the optimizer steps, at least so many steps have a gradient looked
# at as soon as the backward ends. On a device, where each look is a wait, only so many of a run have.
STEPS_OF_DOUBT = 64
# A scaler halves its scale at each step it skips: from 65,536 down to one in so many.
MOST_SKIPPED = 16


class LateLook:
    """Hears of the ends of backward passes while that is of use: a listener of its own, so that it can rest.

    Args:
        taps: Where it listens.
        memory: What the step was given.
        births: Knows the step, and whose a gradient is.
        witnesses: The gradients to look at.
        far: Losses that lie on a device.
        lost: Told of a loss that is not finite, with the frame.
        broken: Told of the names and gradients that are not finite, with the frame.

    Attributes:
        num_scaled: Backwards of this step from a loss that a scaler multiplied.
    """

    def __init__(
        self,
        taps: Taps,
        memory: StepMemory,
        births: Births,
        witnesses: Witnesses,
        far: FarLosses,
        *,
        lost: Callable[[torch.Tensor, FrameType], None],
        broken: Callable[[list[tuple[str, torch.Tensor]], FrameType], None],
    ) -> None:
        self._taps, self._memory, self._births, self._witnesses = taps, memory, births, witnesses
        self._far, self._lost, self._broken = far, lost, broken
        self._doubtful_until = 1
        self.num_scaled = 0
        self._over = False

    def attach(self, taps: Taps) -> None:
        """Listen."""
        taps.on("backward_end", self.look)
        taps.on("scaler_step_end", self._scaler_stepped)

    def stop(self) -> None:
        """Look no more: something was found."""
        self._over = True

    def begin(self) -> None:
        """Begin a step."""
        self.num_scaled = 0

    def scaled(self) -> None:
        """Note a backward from a loss that a scaler multiplied."""
        self.num_scaled += 1
        self._taps.listeners.wake_up(self)

    def look(self, tensors: Any, nanoseconds: int) -> None:
        """Look at one gradient a model, and at losses on a device, where a look before the step would come too late."""
        step = self._births.step
        if step >= self._doubtful_until and not self.num_scaled:
            self._taps.rest(self, until=NEVER)
            return
        if self._over or (self.num_scaled and (self.num_scaled < MOST_SKIPPED or self.num_scaled % MOST_SKIPPED)):
            return  # a scaler skips such steps by itself
        frame = sys._getframe(1)
        far = step < STEPS_OF_DOUBT
        loss = self._far.bad() if far else None
        if loss is not None:
            self._lost(loss, frame)
            return
        bad = self._witnesses.bad(self._memory.calls, far=far)
        if bad and not (self.num_scaled and self._births.is_scalers(frame)):
            self._broken(bad, frame)

    def _scaler_stepped(self, scaler: Any, optimizer: Any, frame: FrameType) -> None:
        """Look at losses on a device that no norm took along, because the scaler did not step."""
        if self._far.waits and not self._over and (loss := self._far.bad()) is not None:
            self._lost(loss, frame)

    def judge(self, *, mine: bool) -> None:
        """Note whether the code that steps is the code that went backward, and went once."""
        if not mine:
            self._doubtful_until = max(2 * self._births.step, STEPS_OF_DOUBT)
            self._taps.listeners.wake_up(self)
