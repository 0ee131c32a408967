"""This file watches what earlier cells left with an optimizer: its state, and gradients that nobody reset."""

import weakref
from types import FrameType
from typing import Any

import torch

from torchmagic.probes.cast import Cast
from torchmagic.probes.optimizer_state import steps_made
from torchmagic.probes.probe import nothing_waits
from torchmagic.probes.taps import Taps
from torchmagic.records.notebook import LeftoverGradientsRecord, OptimizerStateRecord
from torchmagic.session.recorder import Recorder
from torchmagic.tensors.reduce import norms


class Leftovers:
    """Records ``OptimizerStateRecord`` and ``LeftoverGradientsRecord`` at the first step of each optimizer."""

    flush = nothing_waits

    def __init__(self, cast: Cast) -> None:
        self._cast = cast
        self._recorder: Recorder | None = None
        self._known: set[int] = set()
        # Of each parameter that held a gradient at the first backward: that gradient, its version and length.
        self._left: dict[int, tuple[weakref.ref[torch.Tensor], int, float]] | None = None

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Listen for the first backward pass and the first steps."""
        self._recorder, self._taps = recorder, taps
        taps.on("backward_begin", self._backward)
        taps.on("step_begin", self._step_begins)

    def detach(self) -> None:
        """Let go of everything."""
        self._recorder, self._left = None, None

    def _backward(self, tensors: Any, frame: FrameType) -> None:
        """Before the first backward of the run, a gradient that is not zero comes from before it."""
        if self._left is not None:
            return
        self._left = {}
        parameters = [ref() for model in self._cast.models for ref in model.parameters.values()]
        held = [(each, each.grad) for each in parameters if each is not None and each.grad is not None]
        lengths = norms([gradient.detach() for _, gradient in held]) if held else []
        for (parameter, gradient), length in zip(held, lengths, strict=True):
            if length:
                self._left[id(parameter)] = (weakref.ref(gradient), gradient._version, length)

    def _step_begins(self, optimizer: torch.optim.Optimizer, frame: FrameType) -> None:
        entry = self._cast.optimizer(optimizer)
        if id(entry) not in self._known and self._recorder is not None:
            self._known.add(id(entry))
            self._tell_state(entry.name, optimizer)
            if self._left:
                self._tell_gradients(entry.name, [tensor for ref in entry.refs if (tensor := ref()) is not None])
        self._taps.rest(self, until=1 << 62)  # a new optimizer wakes everybody

    def _tell_state(self, name: str, optimizer: torch.optim.Optimizer) -> None:
        states = (each for each in list(optimizer.state.values()) if isinstance(each, dict) and each)
        state, steps = next(((each, made) for each in states if (made := steps_made(each)) != 0), (None, None))
        if state is None or self._recorder is None:
            return
        keys = tuple(str(key) for key, value in state.items() if value is not None)
        self._recorder.add(OptimizerStateRecord(optimizer=name, steps=steps, keys=keys))

    def _tell_gradients(self, name: str, tensors: list[torch.Tensor]) -> None:
        with_gradient = [tensor for tensor in tensors if tensor.grad is not None]
        grown = [length for tensor in with_gradient if (length := self._grew(tensor)) is not None]
        if not grown or self._recorder is None:
            return
        gradients = [tensor.grad.detach() for tensor in with_gradient if tensor.grad is not None]
        followed = sum(length**2 for length in norms(gradients)) ** 0.5
        share = sum(length**2 for length in grown) ** 0.5 / followed if followed else 0.0
        self._recorder.add(
            LeftoverGradientsRecord(optimizer=name, num_parameters=len(grown), total=len(gradients), share=share)
        )

    def _grew(self, tensor: torch.Tensor) -> float | None:
        """Return the length of what a gradient held at first, when it was added to and never reset."""
        ref, version, length = (self._left or {}).get(id(tensor), (None, 0, 0.0))
        same = ref is not None and ref() is tensor.grad and tensor.grad is not None
        return length if same and tensor.grad is not None and tensor.grad._version == version + 1 else None
