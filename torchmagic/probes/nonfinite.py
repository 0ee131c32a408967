"""This file watches for the first non-finite value, and finds where it was born before the optimizer spreads it."""

import math
import weakref
from dataclasses import replace
from types import FrameType
from typing import Any

import torch
from torch import nn

from torchmagic.probes.asked_gradients import AskedGradients
from torchmagic.probes.births import Births
from torchmagic.probes.cast import Cast
from torchmagic.probes.evaluation_sentinel import EvaluationSentinel
from torchmagic.probes.explosions import rates_of
from torchmagic.probes.far_losses import FarLosses
from torchmagic.probes.gradients import Gradients
from torchmagic.probes.late_look import LateLook
from torchmagic.probes.members import ByHand, gradient_in
from torchmagic.probes.origin_memory import Instruction, StepMemory
from torchmagic.probes.origin_weights import Weights
from torchmagic.probes.origin_witness import Witnesses
from torchmagic.probes.origin_words import sentence
from torchmagic.probes.riders import Riders
from torchmagic.probes.scaling import Scaling
from torchmagic.probes.sites import caller_of, user_frame
from torchmagic.probes.state_look import StateLook
from torchmagic.probes.taps import Taps
from torchmagic.records.nonfinite import NonfiniteRecord
from torchmagic.session.recorder import Recorder
from torchmagic.tensors.finite import far_ones, is_finite, worst
from torchmagic.tensors.presence import has_numbers
from torchmagic.tensors.reduce import norms, total_norm


class NonFiniteError(RuntimeError):
    """Raised at the first non-finite value when a run is watched with ``anomaly="raise"``."""


class Nonfinite:
    """Records ``NonfiniteRecord`` once a run: cheap sentinels at every step, one replay when they fire.

    The sentinels are the loss at each backward, or where ``torch.autograd.grad`` is asked for gradients of weights, and
    the gradients' norm before each step; a loss on a device is read together with that norm. Where several backwards
    add up to one step, or a function hides them, one small gradient is one too, at the end of each backward.
    Evaluations, and what optimizers remember, have their own.

    Args:
        cast: Models and optimizers that take part.
        taps: Through which a replay sees.
        gradients: The probe that has the gradients' norm already, and fetches a device's losses with it; None where
            there is none.
        raises: Whether the first non-finite value stops the run.
        warns: Whether it is warned of.
        detects: Whether torch's own anomaly detection is on as well.

    Attributes:
        memory, loss, weights, births: What the step was given; from what it went backward; what finds an origin.
    """

    def __init__(
        self, cast: Cast, taps: Taps, gradients: Gradients | None, *, raises: bool, warns: bool, detects: bool = False
    ) -> None:
        self._cast, self._taps, self._gradients = cast, taps, gradients
        self._raises, self._warns, self._detects = raises, warns, detects
        self._recorder: Recorder | None = None
        self.memory, self.weights = StepMemory(), Weights(cast)
        self.births = Births(cast, taps, self.memory, self.weights)
        self._evaluations = EvaluationSentinel(cast, taps, self.births, self.weights, self._tell)
        self._states = StateLook(cast, self._tell)
        self._scaling = Scaling()
        self._far = FarLosses(gradients.riders if gradients is not None else Riders())
        self._late = LateLook(
            taps, self.memory, self.births, Witnesses(cast), self._far, lost=self._look_at, broken=self._tell_gradient
        )
        self._asked = AskedGradients(cast, self.memory, self.births, backward=self._backward, tell=self._tell)
        self.loss: weakref.ref[torch.Tensor] | None = None
        self._found = False
        self._sentence = ""

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Listen for everything a value passes through."""
        self._recorder = recorder
        self._scaling.attach(taps)
        self._evaluations.attach(taps)
        self.memory.attach(taps)
        taps.on("root_begin", self._called)
        taps.on("loss", self._lost)
        taps.on("backward_begin", self._backward)
        self._asked.attach(taps)
        self._late.attach(taps)
        taps.on("backward_error", self._backward_failed)
        taps.on("step_begin", self._stepping)
        taps.on("update_begin", self._stepping)

    def num_calm(self) -> int:
        """Return how many more steps teach nothing, if training on the host is all there is to see in them."""
        if self._found or self._evaluations.open or self._far.waits or self._late.num_scaled:
            return 0
        return self.memory.num_known()

    def flush(self, step: int) -> None:
        """Let go of the step's tensors."""
        self.memory.clear()
        self._far.clear()
        self._late.begin()
        self.loss = None
        self.births.step = step + 1
        if self._evaluations.open:
            self._evaluations.close()

    def detach(self) -> None:
        """Tell what the last steps and evaluations left untold, and let go of everything."""
        recorder, self._recorder = self._recorder, None
        if recorder is not None:
            last = None if self._found else self._evaluations.last_words()
            if last is not None:
                recorder.add(last)
            self._states.at_end(self.births.step, recorder, found=self._found or last is not None)
        self._found, self.loss = True, None
        self.flush(0)
        self.weights.clear()

    def _called(self, module: nn.Module, args: Any, kwargs: Any, frame: FrameType) -> None:
        model = self._cast.called
        if self._found or model is None:
            return
        learns = self._taps.grad_enabled
        if not learns or not (module.training or self._evaluations.learns):
            self._taps.listeners.unlike()
            self._evaluations.begin(module, model, args, kwargs, frame)
        elif self._evaluations.open:
            self._evaluations.close()
        if learns:
            self.memory.call(module, model, args, kwargs, frame)

    def _lost(self, name: str, args: Any, kwargs: Any, output: Any, frame: FrameType) -> None:
        if self._found:
            return
        if self._evaluations.open:
            self._evaluations.lost(name, args, kwargs, output, frame)
        if self._taps.grad_enabled:
            self.memory.loss(name, args, kwargs, output, frame)

    def _backward(self, tensors: Any, frame: FrameType) -> None:
        if self._found:
            return
        first = tensors if isinstance(tensors, torch.Tensor) else worst(tensors)
        if first is None:
            return
        if self._evaluations.open:
            self._evaluations.learned()
        self.memory.backward(caller_of(frame))
        loss = self._scaling.unscaled(first) if self._scaling.pair else first
        if loss is not first:
            self._late.scaled()
        if loss is None or (type(loss) is not torch.Tensor and not has_numbers(loss)):
            return
        self.loss = weakref.ref(loss)
        if not loss.is_cpu:
            for each in [loss] if tensors is first else far_ones(tensors):
                self._far.add(each)
        elif not math.isfinite(loss.item() if loss.numel() == 1 else loss.sum().item()):
            self._look_at(loss, frame)

    def _look_at(self, loss: torch.Tensor, frame: FrameType) -> None:
        self.births.stand_at(frame)
        if not is_finite(loss):
            self._tell(self.births.in_forward(loss, frame))

    def _backward_failed(self, tensors: Any, frame: FrameType, error: BaseException) -> None:
        """Join the error of torch's anomaly detection with the origin."""
        if not self._detects or "returned nan values" not in str(error):
            return
        if not self._found:
            self._tell_gradient([], frame)
        error.add_note(f"torchmagic: {self._sentence}")

    def _stepping(self, optimizer: torch.optim.Optimizer | ByHand, frame: FrameType) -> None:
        if self._found:
            return
        step = self.births.step
        if len(self.memory.raw_backwards) != 1 or not step & (step - 1):
            self._judge_sight(frame)
        loss = self._far.bad()
        if loss is not None:
            self._look_at(loss, frame)
            return
        total = self._gradients.total if self._gradients is not None else None
        if total is not None and math.isfinite(total):
            self.weights.explosions.norms.append(total)
            if type(optimizer) is not ByHand:
                groups = optimizer.param_groups
                one = len(groups) == 1 and type(rate := groups[0].get("lr")) is float
                self.weights.explosions.rates[id(optimizer)] = [rate] if one else rates_of(groups)
        else:
            self._look_closer(optimizer, total, frame)
        if not step & (step - 1) and not self._found:
            self.weights.look(step)
            self._states.before_step(step, user_frame(frame), self._recorder)

    def _look_closer(self, optimizer: torch.optim.Optimizer | ByHand, total: float | None, frame: FrameType) -> None:
        entry = self._cast.optimizer(optimizer)
        held = [
            (name, gradient)
            for name, ref in zip(entry.names, entry.refs, strict=True)
            if (tensor := ref()) is not None and (gradient := gradient_in(optimizer, tensor)) is not None
        ]
        if total is None:
            total = total_norm(norms([gradient.detach() for _, gradient in held if gradient.numel()]))
        self.weights.explosions.norms.append(total)
        bad = [] if math.isfinite(total) else [(name, each) for name, each in held if not is_finite(each)]
        if bad:
            self._tell_gradient(bad, frame)

    def _judge_sight(self, frame: FrameType) -> None:
        """See whether the code that steps is the code that went backward, and went once.

        One that does both rarely stops doing so: it is looked at in steps that are powers of two.
        """
        user = user_frame(frame)
        self.births.stepped = Instruction(user.f_code, user.f_lasti) if user is not None else None
        backwards = self.memory.backwards
        self._late.judge(mine=len(backwards) == 1 and user is not None and backwards[0].code is user.f_code)

    def _tell_gradient(self, bad: list[tuple[str, torch.Tensor]], frame: FrameType) -> None:
        loss = self.loss() if self.loss is not None else None
        self.births.stand_at(frame)
        if loss is not None and not is_finite(loss):
            self._tell(self.births.in_forward(loss, frame))
        else:
            record = self.births.in_backward(bad, loss, frame, scaled=self._scaling.pair is not None)
            self._tell(replace(record, without_loss=self.loss is None and not record.proven))

    def _tell(self, record: NonfiniteRecord) -> None:
        self._found = True
        self._taps.listeners.unlike()
        self.memory.clear()
        self._evaluations.stop()
        self._late.stop()
        self._asked.stop()
        if self._recorder is not None:
            self._recorder.add(record)
        self._sentence = sentence(record)
        if self._raises:
            raise NonFiniteError(self._sentence)
        if self._warns:
            self._taps.warn(self._sentence)
