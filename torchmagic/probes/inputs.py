"""This file looks at what models and losses are given, with or without a loader."""

from types import FrameType
from typing import Any

import torch
from torch import nn

from torchmagic.probes.batch_facts import Facts
from torchmagic.probes.cast import Cast
from torchmagic.probes.loaders import Loaders
from torchmagic.probes.members import Model
from torchmagic.probes.pacing import Pacer
from torchmagic.probes.probe import nothing_waits
from torchmagic.probes.repeats import Call, Repeats, values_in
from torchmagic.probes.shared_rows import SharedRows
from torchmagic.probes.sites import site_of
from torchmagic.probes.taps import Taps
from torchmagic.probes.wrappers import now
from torchmagic.records.data import Source
from torchmagic.session.recorder import Recorder
from torchmagic.tensors.batch import fields_in
from torchmagic.tensors.glance import MOST_TENSORS
from torchmagic.tensors.presence import is_transformed

# The first calls of a model, and of a loss, are looked at whatever they cost.
FIRST_CALLS, FIRST_LOSSES, FIRST_EVALUATIONS = 16, 4, 8


class _Calls:
    """The calls of models of one name: how many, how many of them trained; of the newest one what it was given."""

    def __init__(self) -> None:
        self.count = self.training = 0
        self.begin(None)

    def begin(self, model: Model | None) -> None:
        """Go on with another model, which knows nothing of what the one before was given."""
        self.model, self.repeats, self.rows = model, Repeats(), SharedRows()


class Inputs:
    """Records what models and losses are given, as ``Facts`` does, at the first calls and when the pace allows.

    ``input_repeated``, a subject a model: 1 where a training call got the values of the one looked at before in another
    tensor, 0.5 where it got the very same tensor, else 0. ``RepeatedInputRecord`` and ``SharedRowsRecord`` at the end.

    Attributes:
        losses: How often each loss was called.
    """

    flush = nothing_waits

    def __init__(self, cast: Cast, taps: Taps, pacer: Pacer, loaders: Loaders) -> None:
        self._cast, self._taps, self._pacer, self._loaders = cast, taps, pacer, loaders
        self._served = 0
        self._models, self._loss_facts = Facts(Source.MODEL), Facts(Source.LOSS)
        self._recorder: Recorder | None = None
        self._calls: dict[str, _Calls] = {}
        self.losses: dict[str, int] = {}

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Listen for calls of models and losses."""
        self._recorder = recorder
        taps.on("root_begin", self._called)
        taps.on("loss", self._lost)

    def detach(self) -> None:
        """Hand over what was counted, and let go of everything."""
        if self._recorder is not None:
            self._loss_facts.tell_classes(self._recorder)
            for name, calls in self._calls.items():
                self._tell(name, calls, self._recorder)
            self._recorder = None
        self._calls.clear()

    def _tell(self, name: str, calls: _Calls, recorder: Recorder) -> None:
        calls.rows.tell(name, recorder)
        repeated = calls.repeats.record(calls.model, self._cast.names.namespace) if calls.model is not None else None
        if repeated is not None:
            recorder.add(repeated)

    def _called(self, module: nn.Module, args: Any, kwargs: Any, frame: FrameType) -> None:
        model = self._cast.model_of(module)
        if model is None or self._recorder is None or is_transformed():
            return
        calls = self._calls.get(model.name)
        if calls is None:
            calls = self._calls[model.name] = _Calls()
        if calls.model is not model:
            self._tell(model.name, calls, self._recorder)
            calls.begin(model)
        calls.count += 1
        trains = self._taps.grad_enabled and module.training
        calls.training += trains
        loaders = self._loaders
        loader = loaders.current if loaders.served != self._served else None
        self._served = loaders.served
        early = calls.training <= FIRST_CALLS if trains else calls.count - calls.training <= FIRST_EVALUATIONS
        if not early and calls.count & (calls.count - 1) and not self._pacer.wants("inputs"):
            return
        began = now()
        fields = [*fields_in(args), *fields_in(kwargs)][:MOST_TENSORS]
        self._models.look(self._recorder, model.name, fields, training=self._taps.grad_enabled)
        tensors = values_in(fields)
        if tensors and trains:
            source = loader.name if loader is not None else ""
            given = (*args, *kwargs.values())
            call = Call(calls.training, self._recorder.step, tensors, given, source, site_of(frame))
            repeated = calls.repeats.look(call)
            if repeated is not None:
                self._recorder.append("input_repeated", (repeated,), (model.name,))
            if not repeated:
                calls.rows.train(loader, tensors)
        elif tensors:
            calls.rows.evaluate(loader, tensors, site_of(frame))
            calls.repeats.evaluate(tensors)
        self._pacer.pay("inputs", now() - began)

    def usual(self, model: Model) -> _Calls | None:
        """Return what is known of a model's training calls, where one more need only be counted; else None."""
        calls = self._calls.get(model.name)
        if calls is None or calls.model is not model or calls.training < FIRST_CALLS or is_transformed():
            return None
        return calls if calls.count + 1 & calls.count and not self._pacer.wants("inputs") else None

    def count(self, calls: _Calls) -> None:
        """Count a training call that is not looked at."""
        calls.count += 1
        calls.training += 1
        self._served = self._loaders.served

    def usual_loss(self, name: str) -> int:
        """Return which call of a loss one more is, where it need only be counted; else 0."""
        count = self.losses.get(name, 0) + 1
        usual = count > FIRST_LOSSES and count & (count - 1) and not self._pacer.wants("inputs")
        return count if usual else 0

    def _lost(self, name: str, args: Any, kwargs: Any, output: Any, frame: FrameType) -> None:
        count = self.losses[name] = self.losses.get(name, 0) + 1
        if count > FIRST_LOSSES and count & (count - 1) and not self._pacer.wants("inputs"):
            return
        if self._recorder is None or is_transformed():
            return
        began = now()
        given = args[0] if args else kwargs.get("input")
        target = args[1] if len(args) > 1 else kwargs.get("target")
        fields = [
            (field, value) for field, value in (("input", given), ("target", target)) if isinstance(value, torch.Tensor)
        ]
        self._loss_facts.look(self._recorder, name, fields, training=self._taps.grad_enabled)
        self._loss_facts.count_classes(self._recorder, name, fields[1:])
        self._pacer.pay("inputs", now() - began)
