"""This file watches loss scaling: the scale, steps left out, and gradients that are used while still scaled."""

import math
import weakref
from types import FrameType
from typing import Any

import torch

from torchmagic.probes.cast import Cast
from torchmagic.probes.graph_walk import leaves, walk
from torchmagic.probes.members import Model
from torchmagic.probes.sites import Site, place_of, site_of
from torchmagic.probes.taps import Taps
from torchmagic.records.precision import (
    Deed,
    GradScalerRecord,
    ScaledGradientsRecord,
    ScalerUseRecord,
    SkippedStepRecord,
)
from torchmagic.session.recorder import Recorder
from torchmagic.tensors.reduce import fetch

# Records of one kind that are kept; the series and the counts tell of the rest.
MOST_RECORDS = 32


class LossScaling:
    """Records what a GradScaler does.

    ``grad_scale`` after each update and ``skipped_steps`` (their number so far) at each step that was left out are
    series; ``GradScalerRecord``, ``SkippedStepRecord``, ``ScaledGradientsRecord`` and, at the end, ``ScalerUseRecord``
    are records. The scale is read where it lies on the host, else with the step's other numbers.
    """

    def __init__(self, cast: Cast) -> None:
        self._cast = cast
        self._recorder: Recorder | None = None
        self._taps: Taps | None = None  # until there is a scaler
        self._counts = dict.fromkeys(ScalerUseRecord.__dataclass_fields__, 0)
        self._met: set[tuple[int, int]] = set()
        self.scales: list[torch.Tensor] = []
        self._scale = math.nan
        self._scaled_model: weakref.ref[Model] | None = None
        self._scaled = self._inside = self._stepped = self._doubts = False
        # Optimizers whose gradients have been divided by the scale again, and parameters that the loss reaches.
        self._divided: set[int] = set()
        self._reached: set[int] = set()
        self._newest: weakref.ref[torch.Tensor] | None = None
        # Of an optimizer that leaves the step out by itself (fused ones): what to tell when the scale has shrunk.
        self._silent: tuple[str, int, Site | None] | None = None

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Listen for scalers and clipping; steps tell nothing before a scaler has been used."""
        self._recorder, self._taps = recorder, taps
        taps.on("scaled", self._see_loss)
        taps.on("unscaled", self._see_unscaled)
        taps.on("scaler_step_begin", self._begin_step)
        taps.on("scaler_step_end", self._end_step)
        taps.on("scaler_updated", self._see_update)
        taps.on("clipped", self._see_clip)

    def flush(self, step: int) -> None:
        """Hand over scales that lie on a device."""
        if self.scales:
            scales, self.scales = fetch(self.scales), []
            for scale in scales:
                self._take_scale(scale)

    def detach(self) -> None:
        """Hand over what is left, and say how loss scaling was used."""
        if self._recorder is None:
            return
        self.flush(0)
        if any(self._counts.values()):
            self._recorder.add(ScalerUseRecord(**self._counts))
        self._recorder = None
        self._silent = None

    def _listen_for_steps(self) -> None:
        taps, self._taps = self._taps, None
        if taps is not None:
            taps.on("step_begin", self._see_step)
            taps.on("backward_begin", self._see_backward)

    def _see_loss(self, loss: Any, scaled: Any) -> None:
        if loss is scaled:  # the scaler is not enabled
            return
        self._listen_for_steps()
        self._counts["num_scaled"] += 1
        self._scaled = True
        self._divided.clear()
        self._newest = weakref.ref(scaled) if isinstance(scaled, torch.Tensor) else None
        self._reached = {id(each) for each in leaves(walk(loss).nodes)} if self._doubts else set()
        if math.isnan(self._scale):
            self._scale = _ratio(loss, scaled)
        model = self._cast.current
        self._scaled_model = weakref.ref(model) if model is not None else None

    def _see_unscaled(self, scaler: Any, optimizer: Any) -> None:
        if scaler.is_enabled():
            self._divided.add(id(optimizer))
            self._counts["num_unscaled"] += not self._inside

    def _see_backward(self, tensors: Any, frame: FrameType) -> None:
        """Take a backward of something else for the next thing to learn from, once the scaled loss was learned from."""
        if self._divided and (self._newest is None or tensors is not self._newest()):
            self._scaled = False

    def _begin_step(self, scaler: Any, optimizer: Any, frame: FrameType) -> None:
        self._listen_for_steps()
        self._inside, self._stepped = True, False
        key = (id(scaler), id(optimizer))
        if key not in self._met:
            self._met.add(key)
            self._meet(scaler, optimizer)

    def _end_step(self, scaler: Any, optimizer: Any, frame: FrameType) -> None:
        self._inside = False
        if not scaler.is_enabled():
            return
        self._divided.add(id(optimizer))
        self._counts["num_steps"] += 1
        step = self._recorder.step if self._recorder is not None else 0
        if not self._stepped:
            self._tell_skipped(self._cast.names.of_optimizer(optimizer, None), step, site_of(frame))
        elif getattr(optimizer, "_step_supports_amp_scaling", False):
            self._silent = (self._cast.optimizer(optimizer).name, step - 1, site_of(frame))

    def _see_update(self, scaler: Any, given: bool) -> None:  # noqa: FBT001 - as the event brings it
        if not scaler.is_enabled() or scaler._scale is None:
            return
        self._counts["num_updates"] += 1
        if given:
            self._silent = None
        if scaler._scale.device.type == "cpu":
            self._take_scale(scaler._scale.item())
        else:
            self.scales.append(scaler._scale.detach().clone())

    def _take_scale(self, scale: float) -> None:
        if self._silent is not None and scale < self._scale:
            self._tell_skipped(*self._silent)
        self._silent = None
        self._scale = scale
        if self._recorder is not None:
            self._recorder.append("grad_scale", (scale,))

    def _see_step(self, optimizer: torch.optim.Optimizer, frame: FrameType) -> None:
        if self._inside:
            self._stepped = True
        elif self._scaled and id(optimizer) not in self._divided and self._scales_of(optimizer):
            self._divided.add(id(optimizer))
            self._counts["num_past"] += 1
            self._tell_scaled(Deed.STEP, self._counts["num_past"], frame)

    def _see_clip(self, parameters: Any, limit: Any, frame: FrameType) -> None:
        if self._scaled and not self._divided and not self._inside:
            self._counts["num_clipped_while_scaled"] += 1
            self._tell_scaled(Deed.CLIP, self._counts["num_clipped_while_scaled"], frame)

    def _scales_of(self, optimizer: torch.optim.Optimizer) -> bool:
        """Whether an optimizer owns parameters that the scaled loss reaches: of the model that ran last, or another."""
        model = self._scaled_model() if self._scaled_model is not None else None
        if model is None or any(name in model.parameters for name in self._cast.optimizer(optimizer).names):
            return True
        self._doubts = True  # the next loss is asked
        return any(id(each) in self._reached for group in optimizer.param_groups for each in group["params"])

    def _tell_scaled(self, deed: Deed, number: int, frame: FrameType) -> None:
        if self._recorder is not None and number <= MOST_RECORDS:
            place = place_of(site_of(frame))
            self._recorder.add(
                ScaledGradientsRecord(step=self._recorder.step, deed=deed, scale=self._scale, place=place)
            )

    def _tell_skipped(self, optimizer: str, step: int, site: Site | None) -> None:
        self._counts["num_skipped"] += 1
        number = self._counts["num_skipped"]
        if self._recorder is None:
            return
        self._recorder.append("skipped_steps", (number,))
        if number <= MOST_RECORDS:
            place = place_of(site)
            self._recorder.add(SkippedStepRecord(step=step, optimizer=optimizer, scale=self._scale, place=place))

    def _meet(self, scaler: Any, optimizer: torch.optim.Optimizer) -> None:
        enabled = scaler.is_enabled()
        if enabled and math.isnan(self._scale):
            on_host = scaler._scale is not None and scaler._scale.device.type == "cpu"
            self._scale = scaler._scale.item() if on_host else float(scaler._init_scale)
        if self._recorder is not None:
            self._recorder.add(
                GradScalerRecord(
                    step=self._recorder.step,
                    optimizer=self._cast.names.of_optimizer(optimizer, None),
                    enabled=enabled,
                    scale=self._scale if enabled else math.nan,
                    growth_factor=scaler.get_growth_factor() if enabled else math.nan,
                    backoff_factor=scaler.get_backoff_factor() if enabled else math.nan,
                    growth_interval=scaler.get_growth_interval() if enabled else 0,
                )
            )


def _ratio(loss: Any, scaled: Any) -> float:
    """Return by how much a loss was scaled, NaN where that cannot be read at once."""
    for tensor in (loss, scaled):
        if not isinstance(tensor, torch.Tensor) or tensor.numel() != 1 or tensor.device.type != "cpu":
            return math.nan
    before, after = float(loss.detach()), float(scaled.detach())
    return after / before if before else math.nan
