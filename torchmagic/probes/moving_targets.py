"""This file watches networks that only answer: whether somebody changed their weights, as those of a target network."""

import weakref
from types import FrameType
from typing import Any

import torch
from torch import nn

from torchmagic.probes.cast import Cast
from torchmagic.probes.members import Model
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
        self._recorder: Recorder | None = None
        self._seen: dict[str, tuple[Any, ...]] = {}
        self._answers: tuple[tuple[int, int], dict[str, weakref.ref[nn.Parameter] | None]] = ((0, 0), {})

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Listen for calls of models."""
        self._recorder = recorder
        taps.on("root_begin", self._called)

    def detach(self) -> None:
        """Let go of everything."""
        self._recorder = None
        self._seen.clear()

    def _called(self, module: nn.Module, args: Any, kwargs: Any, frame: FrameType) -> None:
        model = self._cast.called
        if model is None or self._recorder is None or not self._recorder.step:
            return
        last = self._last_weights(model)
        present = _look(last) if last is not None else None
        if present is None:
            return
        before = self._seen.get(model.name)
        self._seen[model.name] = present
        if before is not None and before != present:
            self._recorder.append("answers_moved", (1.0,), (model.name,))

    def _last_weights(self, model: Model) -> torch.Tensor | None:
        """Return the last parameter of a model that only answers; None for one that is trained."""
        now = len(self._cast.models), len(self._cast.optimizers)
        known, answers = self._answers
        if known != now:
            answers.clear()
            self._answers = now, answers
        if model.name not in answers:
            answers[model.name] = self._answering(model) if len(answers) < MOST_MODELS else None
        ref = answers[model.name]
        return ref() if ref is not None else None

    def _answering(self, model: Model) -> "weakref.ref[nn.Parameter] | None":
        trained = {name for entry in self._cast.at_work.steppers for name in entry.names}
        if not model.parameters or not trained or not trained.isdisjoint(model.parameters):
            return None
        return list(model.parameters.values())[-1]


def _look(weights: torch.Tensor) -> tuple[Any, ...] | None:
    """Return what changes with weights: what is stored first only where that costs no wait for a device."""
    if weights.layout is not torch.strided or weights.is_inference() or not has_numbers(weights):
        return None
    first = weights.detach().flatten()[0].item() if weights.is_cpu and weights.numel() else None
    return weights.data_ptr(), weights._version, first
