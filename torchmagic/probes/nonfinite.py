"""This file watches for the first non-finite value, and finds where it was born before the optimizer spreads it."""

import math
import weakref
from types import FrameType
from typing import Any

import torch
from torch import nn

from torchmagic.probes.births import Births, Call, Loss
from torchmagic.probes.cast import Cast
from torchmagic.probes.gradients import Gradients
from torchmagic.probes.replay import is_finite
from torchmagic.probes.scaling import Scaling
from torchmagic.probes.sites import site_of
from torchmagic.probes.taps import Taps
from torchmagic.records.nonfinite import Birth, NonfiniteRecord
from torchmagic.session.recorder import Recorder
from torchmagic.tensors.reduce import norms, total_norm

# Calls of models remembered within a step: a recurrent loop may call many times.
MOST_CALLS = 32
# Steps between two looks at a batch that did no harm yet; one that does harm shows in the loss at once.
BETWEEN_INPUTS = 16


class NonFiniteError(RuntimeError):
    """Raised at the first non-finite value when a run is watched with ``anomaly="raise"``."""


class Nonfinite:
    """Records ``NonfiniteRecord`` once a run: cheap sentinels at every step, one replay when they fire.

    The sentinels are the loss at each backward (on the CPU) and the gradients' norm before each step.
    """

    def __init__(self, cast: Cast, taps: Taps, gradients: Gradients | None, *, raises: bool, warns: bool) -> None:
        self._cast, self._taps, self._gradients = cast, taps, gradients
        self._raises, self._warns = raises, warns
        self._recorder: Recorder | None = None
        self._births = Births(cast, taps)
        self._scaling = Scaling()
        self._loss: weakref.ref[torch.Tensor] | None = None
        self._found = False

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Listen for everything a value passes through."""
        self._recorder = recorder
        self._scaling.attach(taps)
        taps.on("root_begin", self._called)
        taps.on("loss", self._lost)
        taps.on("backward_begin", self._backward)
        taps.on("step_begin", self._stepping)

    def flush(self, step: int) -> None:
        """Let go of the step's tensors."""
        self._births.clear()
        self._births.step = step + 1

    def detach(self) -> None:
        """Let go of everything."""
        self.flush(0)
        self._loss = None

    def _called(self, module: nn.Module, args: Any, kwargs: Any, frame: FrameType) -> None:
        model = self._cast.model_of(module)
        if self._found or model is None:
            return
        call = Call(module, model, args, kwargs, site_of(frame))
        calls = self._births.calls
        if self._taps.grad_enabled and len(calls) < MOST_CALLS:
            if not module.training:  # an evaluation that forgot no_grad must not keep its batches
                calls[:] = [each for each in calls if each.module is not module]
            calls.append(call)
        if self._recorder is not None and self._recorder.step % BETWEEN_INPUTS == 0:
            record = self._births.in_input(call)
            if record is not None:
                self._tell(record)

    def _lost(self, name: str, args: Any, kwargs: Any, output: Any, frame: FrameType) -> None:
        given = args[0] if args else kwargs.get("input")
        target = args[1] if len(args) > 1 else kwargs.get("target")
        if self._found or not isinstance(output, torch.Tensor) or not isinstance(given, torch.Tensor):
            return
        losses = self._births.losses
        if len(losses) == MOST_CALLS:
            losses.pop(0)
        wanted = weakref.ref(target) if isinstance(target, torch.Tensor) else None
        losses.append(Loss(name, site_of(frame), weakref.ref(given), wanted, weakref.ref(output)))

    def _backward(self, tensors: Any, frame: FrameType) -> None:
        loss = self._scaling.unscaled(tensors) if isinstance(tensors, torch.Tensor) else None
        if self._found or loss is None:
            return
        self._loss, self._births.site = weakref.ref(loss), site_of(frame)
        if loss.device.type == "cpu" and loss.numel() == 1 and not math.isfinite(loss.item()):
            self._tell(self._births.in_forward(loss, frame))

    def _stepping(self, optimizer: torch.optim.Optimizer, frame: FrameType) -> None:
        if self._found:
            return
        if self._gradients is not None and self._gradients.total is not None and math.isfinite(self._gradients.total):
            return
        entry = self._cast.optimizer(optimizer)
        held = [
            (name, tensor.grad)
            for name, ref in zip(entry.names, entry.refs, strict=True)
            if (tensor := ref()) is not None and tensor.grad is not None
        ]
        if math.isfinite(self._total(held)):
            return
        bad = [(name, gradient) for name, gradient in held if not is_finite(gradient)]
        loss = self._loss() if self._loss is not None else None
        if loss is not None and not is_finite(loss):
            self._tell(self._births.in_forward(loss, None))
        elif bad:
            self._tell(self._births.in_backward(bad, loss))

    def _total(self, held: list[tuple[str, torch.Tensor]]) -> float:
        if self._gradients is not None and self._gradients.total is not None:
            return self._gradients.total
        return total_norm(norms([gradient.detach() for _, gradient in held if gradient.numel()]))

    def _tell(self, record: NonfiniteRecord) -> None:
        self._found = True
        self.flush(0)
        if self._recorder is not None:
            self._recorder.add(record)
        sentence = _sentence(record)
        if self._raises:
            raise NonFiniteError(sentence)
        if self._warns:
            self._taps.warn(sentence)


def _sentence(record: NonfiniteRecord) -> str:
    what = {
        Birth.INPUT: "the input holds non-finite values",
        Birth.FORWARD: f"{record.op or 'an operator'} made a non-finite value",
        Birth.GRADIENT: f"the gradient of {record.parameter} is non-finite",
        Birth.PARAMETER: f"{record.parameter} is non-finite",
    }[record.birth]
    module = f" in {record.module}" if record.module else ""
    place = f" (line {record.place.line}: {record.place.source})" if record.place is not None else ""
    return f"step {record.step}: {what}{module}{place}"
