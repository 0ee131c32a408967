"""This file looks at what models and losses are given, with or without a loader."""

import weakref
from types import FrameType
from typing import Any

import torch
from torch import nn

from torchmagic.probes.batch_facts import Facts
from torchmagic.probes.cast import Cast
from torchmagic.probes.pacing import Pacer
from torchmagic.probes.probe import nothing_waits
from torchmagic.probes.taps import Taps
from torchmagic.probes.wrappers import now
from torchmagic.records.data import Source
from torchmagic.session.recorder import Recorder
from torchmagic.tensors.batch import Print, fields_in, fingerprint, has_values
from torchmagic.tensors.glance import MOST_TENSORS

# The first calls of a model, and of a loss, are looked at whatever they cost.
FIRST_CALLS, FIRST_LOSSES = 16, 4


class _Calls:
    """The training calls of one model: how many, and what the last one that was looked at was given."""

    def __init__(self) -> None:
        self.count = 0
        self.print: Print | None = None
        self.tensor: weakref.ref[torch.Tensor] | None = None


class Inputs:
    """Records what models and losses are given, as ``Facts`` does, at the first calls and when the pace allows.

    ``input_repeated``, a subject a model: 1 where a training call got the values of the one looked at before in another
    tensor, 0.5 where it got the very same tensor, else 0.
    """

    flush = nothing_waits

    def __init__(self, cast: Cast, taps: Taps, pacer: Pacer) -> None:
        self._cast, self._taps, self._pacer = cast, taps, pacer
        self._models, self._losses = Facts(Source.MODEL), Facts(Source.LOSS)
        self._recorder: Recorder | None = None
        self._calls: dict[str, _Calls] = {}
        self._counts: dict[str, int] = {}

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Listen for calls of models and losses."""
        self._recorder = recorder
        taps.on("root_begin", self._called)
        taps.on("loss", self._lost)

    def detach(self) -> None:
        """Hand over what was counted, and let go of everything."""
        if self._recorder is not None:
            self._losses.tell_classes(self._recorder)
            self._recorder = None
        self._calls.clear()

    def _called(self, module: nn.Module, args: Any, kwargs: Any, frame: FrameType) -> None:
        model = self._cast.model_of(module)
        if model is None or self._recorder is None:
            return
        calls = self._calls.get(model.name)
        if calls is None:
            calls = self._calls[model.name] = _Calls()
        calls.count += 1
        if not self._wants(calls.count, FIRST_CALLS):
            return
        began = now()
        fields = [*fields_in(args), *fields_in(kwargs)][:MOST_TENSORS]
        training = self._taps.grad_enabled
        layer = _first_layer(module) if calls.count <= FIRST_CALLS else ""
        self._models.look(self._recorder, model.name, fields, first_layer=layer, training=training)
        first = next((tensor for _, tensor in fields if has_values(tensor)), None)
        if first is not None and training and module.training:
            self._compare(model.name, calls, first)
        self._pacer.pay("inputs", now() - began)

    def _compare(self, name: str, calls: _Calls, first: torch.Tensor) -> None:
        found = fingerprint(first)
        if calls.print is not None and self._recorder is not None:
            same = calls.tensor is not None and calls.tensor() is first
            repeated = 0.0 if found != calls.print else 0.5 if same else 1.0
            self._recorder.append("input_repeated", (repeated,), (name,))
        calls.print, calls.tensor = found, weakref.ref(first)

    def _lost(self, name: str, args: Any, kwargs: Any, output: Any, frame: FrameType) -> None:
        count = self._counts[name] = self._counts.get(name, 0) + 1
        if self._recorder is None or not self._wants(count, FIRST_LOSSES):
            return
        began = now()
        given = args[0] if args else kwargs.get("input")
        target = args[1] if len(args) > 1 else kwargs.get("target")
        fields = [
            (field, value) for field, value in (("input", given), ("target", target)) if isinstance(value, torch.Tensor)
        ]
        self._losses.look(self._recorder, name, fields, training=self._taps.grad_enabled)
        self._losses.count_classes(self._recorder, name, fields[1:])
        self._pacer.pay("inputs", now() - began)

    def _wants(self, count: int, first: int) -> bool:
        return count <= first or not count & (count - 1) or self._pacer.wants("inputs")


def _first_layer(module: nn.Module) -> str:
    """Return the class of the first module that has parameters of its own, as registered."""
    found = (type(part).__name__ for part in module.modules() if part._parameters)
    return next(found, "")
