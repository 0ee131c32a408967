"""This file is the asked gradients: looks at what ``torch.autograd.grad`` and ``torch.func`` differentiate."""

from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any

import torch

from torchmagic.probes.births import Births
from torchmagic.probes.cast import Cast
from torchmagic.probes.derivatives import are_stepped, of_weights
from torchmagic.probes.origin_memory import StepMemory
from torchmagic.probes.sites import caller_of
from torchmagic.probes.taps import Taps
from torchmagic.records.nonfinite import NonfiniteRecord
from torchmagic.tensors.finite import is_finite


class AskedGradients:
    """Hears of gradients that are asked for as a value, and takes those of a training for its backward.

    Whether a function of tensors alone is a training's loss shows with its first step: what its first call gave is
    held until then.

    Args:
        cast: What is trained.
        memory: What the step was given.
        births: Finds the origin.
        backward: Is given losses of a training, with the frame.
        tell: Is given the origin.
    """

    def __init__(
        self,
        cast: Cast,
        memory: StepMemory,
        births: Births,
        *,
        backward: Callable[[Any, FrameType], None],
        tell: Callable[[NonfiniteRecord], None],
    ) -> None:
        self._cast, self._memory, self._births = cast, memory, births
        self._backward, self._tell = backward, tell
        self._taps: Taps | None = None
        self._held: NonfiniteRecord | None = None
        self._over = False

    def attach(self, taps: Taps) -> None:
        """Listen."""
        self._taps = taps
        taps.on("differentiated", self._differentiated)
        taps.on("functional_gradient", self._functional)

    def stop(self) -> None:
        """Look no more: something was found."""
        self._over, self._held = True, None

    def _differentiated(self, tensors: Any, inputs: Any, frame: FrameType) -> None:
        if self._taps is not None and not self._taps.depth and of_weights(inputs, self._cast.at_work):
            self._backward(tensors, frame)

    def _functional(
        self, loss: torch.Tensor, inputs: Sequence[Any], gradients: Sequence[torch.Tensor], frame: FrameType
    ) -> None:
        if self._over:
            return
        step, held = self._births.step, self._held
        if held is not None:
            if step:
                self._tell(held)
            return
        several_of_model = bool(self._memory.calls) and len(inputs) > 1
        sure = several_of_model or (step > 0 and are_stepped(inputs, self._cast.at_work))
        if sure:
            self._backward(loss, frame)
        else:
            self._memory.backward(caller_of(frame))
        if step or self._over:
            return  # the gradients are looked at as the step is told
        found = self._first(loss, inputs, gradients, frame)
        if found is not None and sure:
            self._tell(found)
        else:
            self._held = found

    def _first(
        self, loss: torch.Tensor, inputs: Sequence[Any], gradients: Sequence[torch.Tensor], frame: FrameType
    ) -> NonfiniteRecord | None:
        """Return the origin of what is not finite before anything was stepped."""
        self._births.stand_at(frame)
        if not is_finite(loss):
            return self._births.in_forward(loss, frame)
        names = self._cast.at_work.stepped
        pairs = zip(inputs, gradients, strict=True)
        bad = [(names.get(id(leaf), ""), each) for leaf, each in pairs if not is_finite(each)]
        return self._births.in_backward(bad, loss, frame) if bad else None
