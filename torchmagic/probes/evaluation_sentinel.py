"""This file is the sentinel of evaluations: forwards that nobody goes backward from, so that no gradient shows NaN."""

import math
from collections.abc import Callable
from dataclasses import replace
from types import FrameType
from typing import Any

import torch
from torch import nn
from torch.utils._pytree import tree_leaves

from torchmagic.probes.births import Births
from torchmagic.probes.cast import Cast
from torchmagic.probes.listeners import NEVER
from torchmagic.probes.members import Model
from torchmagic.probes.nan_values import first_floats, has_nan, is_all_nan, is_near, number_of
from torchmagic.probes.origin_memory import StepMemory
from torchmagic.probes.origin_weights import Weights
from torchmagic.probes.rare_looks import next_rare_look
from torchmagic.probes.sites import Site, caller_of, user_frame
from torchmagic.probes.taps import Taps
from torchmagic.records.nonfinite import Birth, Cause, NonfiniteRecord
from torchmagic.tensors.presence import plain

# An output larger than this is looked at only where all others would be looked at seldom.
MOST_VALUES = 65_536
# So many forwards of an evaluation are looked at one by one, where no loss tells of them; and, where evaluations come
# with each step, as a teacher's forwards do, so many evaluations.
MANY = 64
# Where losses tell, the output is looked at in so many of the first forwards.
FEW = 2
# Dimensions of a batch of sequences of vectors.
SEQUENCES = 3


class _Ear:
    """Hears outputs while an evaluation is looked at: a listener of its own, so that it rests in training."""

    def __init__(self, owner: "EvaluationSentinel") -> None:
        self._owner = owner

    def ended(self, module: nn.Module, args: Any, kwargs: Any, output: Any, nanoseconds: int) -> None:
        """Look at what a model gave out."""
        self._owner.ended(module, output)


class EvaluationSentinel:
    """Looks at the outputs of evaluations for NaN, and at their losses for all that is not finite.

    An infinity in an output may be a mask. NaN in a part of it may be left out by whoever reads it: it is told once a
    loss is not finite either, or when nobody computed one.

    Args:
        cast: Models and optimizers that take part.
        taps: Through which a replay sees.
        training: The births in training, which know its step.
        weights: Knows what made a parameter non-finite.
        tell: Told the first origin.

    Attributes:
        open: Whether the last forward of a model was an evaluation's.
        learns: Whether models learn in evaluation mode: then only forwards without gradients evaluate.
    """

    def __init__(
        self,
        cast: Cast,
        taps: Taps,
        training: Births,
        weights: Weights,
        tell: Callable[[NonfiniteRecord], None],
    ) -> None:
        self._cast, self._taps, self._tell = cast, taps, tell
        self._training, self._memory = training, StepMemory()
        self._births = Births(cast, taps, self._memory, weights, answers=True)
        self._ear = _Ear(self)
        self.open = self.learns = False
        self._graph = False
        self._number = self._forwards = 0
        self._losses = False
        self._called = self._step = self._next = 0
        self._reads = False
        self._pending: NonfiniteRecord | None = None
        self._waiting: torch.Tensor | None = None  # whether an output on a device held NaN
        self._alarmed = False

    def attach(self, taps: Taps) -> None:
        """Be ready to listen for outputs."""
        taps.on("root_end", self._ear.ended)
        taps.rest(self._ear, until=NEVER)

    def begin(self, module: nn.Module, model: Model, args: Any, kwargs: Any, frame: FrameType) -> None:
        """Remember a forward that evaluates.

        Args:
            module: What is called.
            model: The model it belongs to.
            args: What it is given.
            kwargs: What it is given by name.
            frame: Who calls.
        """
        self._settle()
        births, training = self._births, self._training
        births.step, births.stepped = training.step, training.stepped
        if not self.open:
            self._open(births.step)
        self._graph = births.again.graph = self._taps.grad_enabled
        self._called, self._forwards = id(module), self._forwards + 1
        self._memory.clear()
        self._memory.call(module, model, args, kwargs, frame)
        if self._waiting is not None and (self._reads if self._forwards == 1 else self._forwards % MANY == 0):
            self._read()
        if self._is_due():
            self._taps.listeners.wake_up(self._ear)
        elif not self._taps.listeners.rests(self._ear):
            self._taps.rest(self._ear, until=NEVER)

    def ended(self, module: nn.Module, output: Any) -> None:
        """Look at the output of an evaluation."""
        value = first_floats(output) if self.open and id(module) == self._called else None
        if value is None or (value.numel() > MOST_VALUES and self._forwards > FEW):
            if not self.open:
                self._taps.rest(self._ear, until=NEVER)
            return
        if not (is_near(value) or self._alarmed):
            bad = torch.isnan(value).any()
            self._waiting = bad if self._waiting is None else self._waiting | bad
        elif has_nan(value):
            self._search(value, None)
            if is_all_nan(value):
                self._settle()

    def lost(self, name: str, args: Any, kwargs: Any, output: Any, frame: FrameType) -> None:
        """Look at the value of a loss that was computed on an evaluation's output."""
        if not isinstance(output, torch.Tensor) or output.numel() != 1 or not output.is_floating_point():
            return
        if output.requires_grad and not self._graph:
            return  # a training's loss, for which a teacher was asked
        self._losses = True
        value = plain(output)
        if value is None:
            return
        if not (is_near(value) or self._alarmed):
            bad = ~torch.isfinite(value).all()
            self._waiting = bad if self._waiting is None else self._waiting | bad
        elif math.isfinite(number_of(value)):
            self._pending = None
            self._memory.clear()
        else:
            if self._pending is None:
                self._memory.loss(name, args, kwargs, output, frame)
                self._memory.backward(caller_of(frame))
                self._search(value, frame)
            if not (self._graph and output.requires_grad):
                self._settle()

    def learned(self) -> None:
        """Take in that a backward followed: it has a sentinel of its own."""
        self.learns = self.learns or self._graph
        self.stop()

    def stop(self) -> None:
        """End an evaluation, and tell nothing of it."""
        self._pending = None
        self.close()

    def close(self) -> None:
        """End an evaluation: training goes on."""
        record, self._pending = self._pending, None
        self.open = False
        self._memory.clear()
        self._taps.rest(self._ear, until=NEVER)
        if record is not None and not self._is_teachers(record):
            self._tell(record)

    def last_words(self) -> NonfiniteRecord | None:
        """Return what was to be told of the last evaluation, as the run ends."""
        if self._pending is None and self._waiting is not None:
            self._read()
            if self._alarmed:
                self._search(torch.tensor([0.0, math.nan]), None)
                self._pending = self._pending if self._pending is not None and self._pending.proven else None
        record, self._pending = self._pending, None
        self._memory.clear()
        return record

    def _open(self, step: int) -> None:
        with_each_step = step - self._step <= 1 and self._forwards <= 1
        if self._number <= MANY or not with_each_step:
            self._next = 0
        elif self._step >= self._next:
            self._next = next_rare_look(self._step)
        # to read is to wait for a device: seldom where that would be in each step
        self._reads = not with_each_step or not step & (step - 1)
        self.open, self._step = True, step
        self._number += 1
        self._forwards = 0
        self._losses = self._alarmed = False

    def _is_due(self) -> bool:
        """Whether the present forward is looked at."""
        if self._step < self._next:
            return False
        many = FEW if self._losses else MANY
        return self._forwards <= many or self._forwards % MANY == 0

    def _read(self) -> None:
        """Read what waits on a device; where it is bad, look into the next forwards at once."""
        waiting, self._waiting = self._waiting, None
        self._alarmed = waiting is not None and bool(waiting)

    def _search(self, value: torch.Tensor, frame: FrameType | None) -> None:
        """Find where a value that is not finite came from."""
        call = self._memory.calls[-1] if self._memory.calls else None
        user = user_frame(frame)
        line = call.line() if call is not None else None
        self._births.meant = False
        self._births.site = Site(user.f_code, user.f_lineno) if user is not None else line
        record = self._births.in_forward(value, frame)
        if self._births.meant or (frame is None and self._may_be_padding(record) and not is_all_nan(value)):
            return
        if record.op is None and record.model is None and call is not None:
            record = replace(record, model=call.model.name, module=record.module or call.model.name)
        self._pending = replace(record, evaluation=self._number)

    def _may_be_padding(self, record: NonfiniteRecord) -> bool:
        """Whether NaN in a part of an output may come from positions of sequences that nobody reads."""
        if record.birth is not Birth.INPUT:
            return record.cause is Cause.MASKED_ROW
        leaves = tree_leaves([(each.args, each.kwargs) for each in self._memory.calls])
        bad = [torch.isnan(each) for each in leaves if isinstance(each, torch.Tensor) and each.is_floating_point()]
        return all(each.dim() >= SEQUENCES and torch.equal(each.any(-1), each.all(-1)) for each in bad if each.any())

    def _settle(self) -> None:
        """Tell what was kept back."""
        record, self._pending = self._pending, None
        if record is not None:
            self._tell(record)

    def _is_teachers(self, record: NonfiniteRecord) -> bool:
        """Whether no optimizer steps the model: what it gives out goes into another one's loss."""
        names = next((set(each.parameters) for each in self._cast.models if each.name == record.model), None)
        return names is not None and not any(names & set(each.names) for each in self._cast.optimizers)
