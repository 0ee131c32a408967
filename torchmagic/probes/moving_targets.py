"""This file watches networks that only answer: whether somebody changed their weights, as those of a target network."""

import weakref
from types import FrameType
from typing import Any

import torch
from torch import nn

from torchmagic.probes.cast import Cast
from torchmagic.probes.listeners import NEVER
from torchmagic.probes.members import present
from torchmagic.probes.probe import nothing_waits
from torchmagic.probes.taps import Taps
from torchmagic.session.recorder import Recorder
from torchmagic.tensors.presence import has_numbers

# Networks that are followed.
MOST_MODELS = 16


class MovingTargets:
    """Records ``answers_moved`` at a model's call, by its name, when its weights differ from those at the call before.

    Only of a model that no optimizer steps on: what it answers is compared with, and so another loss from here on.
    """

    flush = nothing_waits

    def __init__(self, cast: Cast) -> None:
        self._cast = cast
        self._taps: Taps | None = None
        self._recorder: Recorder | None = None
        self._seen: dict[str, tuple[Any, ...]] = {}
        self._known = 0, 0
        self._answers: dict[str, weakref.ref[nn.Parameter]] = {}

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Listen for calls of models."""
        self._taps, self._recorder = taps, recorder
        taps.on("root_begin", self._called)

    def detach(self) -> None:
        """Let go of everything."""
        self._taps = self._recorder = None
        self._seen.clear()
        self._answers.clear()

    def _called(self, module: nn.Module, args: Any, kwargs: Any, frame: FrameType) -> None:
        if self._recorder is None or not self._recorder.step:
            return
        known = len(self._cast.models), len(self._cast.optimizers)
        if known != self._known:
            self._known = known
            self._find_answering()
        if not self._answers and self._taps is not None:
            self._taps.rest(self, until=NEVER)  # whoever comes wakes it
            return
        model = self._cast.called
        last = self._answers[model.name]() if model is not None and model.name in self._answers else None
        weights = _look(last) if last is not None else None
        if weights is None or model is None:
            return
        before = self._seen.get(model.name)
        self._seen[model.name] = weights
        if before is not None and before != weights:
            self._recorder.append("answers_moved", (1.0,), (model.name,))

    def _find_answering(self) -> None:
        """Find the last parameter of each model that only answers."""
        trained = {name for entry in self._cast.at_work.steppers for name in entry.names}
        models = present(self._cast.models)[-MOST_MODELS:] if trained else []
        self._answers = {
            each.name: list(each.parameters.values())[-1]
            for each in models
            if each.parameters and trained.isdisjoint(each.parameters)
        }


def _look(weights: torch.Tensor) -> tuple[Any, ...] | None:
    """Return what changes with weights: what is stored first only where that costs no wait for a device."""
    if weights.layout is not torch.strided or weights.is_inference() or not has_numbers(weights):
        return None
    first = weights.detach().flatten()[0].item() if weights.is_cpu and weights.numel() else None
    return weights.data_ptr(), weights._version, first
