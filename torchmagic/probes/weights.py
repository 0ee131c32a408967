"""This file measures weights: how large the parameters are, how they spread, and whether they are still finite."""

import weakref
from types import FrameType

import torch

from torchmagic.probes.cast import Cast
from torchmagic.probes.gradients import Gradients
from torchmagic.probes.pacing import Pacer
from torchmagic.probes.probe import nothing_waits
from torchmagic.probes.taps import Taps
from torchmagic.probes.wrappers import now
from torchmagic.session.recorder import Recorder
from torchmagic.tensors.moments import rows_told, table_of
from torchmagic.tensors.reduce import is_measurable, norms

METRICS = {
    "weight_norm": "norm",
    "weight_mean": "mean",
    "weight_std": "std",
    "weight_abs_max": "abs_max",
    "weight_nonfinite": "num_nonfinite",
}


class Weights:
    """Records the parameters as a step finds them, when the pace allows and where the gradients raise an alarm.

    ``weight_norm``, ``weight_mean``, ``weight_std``, ``weight_abs_max`` and ``weight_nonfinite`` (a count), per
    parameter of the optimizer that steps; as the run ends, ``weight_norm_at_end`` once.
    """

    flush = nothing_waits

    def __init__(self, cast: Cast, pacer: Pacer, gradients: Gradients | None = None) -> None:
        self._cast, self._pacer, self._gradients = cast, pacer, gradients
        self._recorder: Recorder | None = None
        self._taps: Taps | None = None
        self._stepped: dict[int, weakref.ref[torch.optim.Optimizer]] = {}

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Listen for optimizer steps."""
        self._recorder, self._taps = recorder, taps
        if self._gradients is not None:
            self._gradients.followers.append(self)
        taps.on("step_begin", self._measure)
        taps.on("update_begin", self._measure)

    def detach(self) -> None:
        """Take a last look at what became of the weights."""
        for entry in (*self._cast.optimizers, *self._cast.at_work.stand_ins):  # none that is left to another thread
            if self._recorder is not None and self._has_measured(entry.ref()):
                named = zip(entry.names, (ref() for ref in entry.refs), strict=True)
                kept = {name: each.detach() for name, each in named if each is not None and is_measurable(each)}
                self._recorder.append("weight_norm_at_end", norms(list(kept.values())), tuple(kept))
        self._stepped.clear()

    def _has_measured(self, optimizer: torch.optim.Optimizer | None) -> bool:
        ref = self._stepped.get(id(optimizer))
        return ref is not None and ref() is optimizer

    def _measure(self, optimizer: torch.optim.Optimizer, frame: FrameType) -> None:
        alarmed = self._gradients is not None and self._gradients.alarmed
        if self._recorder is None or self._taps is None:
            return
        if not (self._pacer.wants("weights") or alarmed):
            self._taps.rest(self, until=self._taps.listeners.step + self._pacer.rest("weights"))
            return
        began = now()
        self._stepped[id(optimizer)] = weakref.ref(optimizer)
        weights = [parameter for group in optimizer.param_groups for parameter in group["params"]]
        names, rows = rows_told(table_of(weights).table, self._cast.optimizer(optimizer).names)
        if names:
            for metric, field in METRICS.items():
                self._recorder.append(metric, rows[field], names)
        self._pacer.pay("weights", now() - began)
