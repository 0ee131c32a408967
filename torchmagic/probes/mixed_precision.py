"""This file watches mixed precision: where autocast is on, and which models have half weights."""

from types import FrameType
from typing import Any

import torch
from torch import nn

from torchmagic.probes.cast import Cast
from torchmagic.probes.leaves import MOST_IDLE, Leaves
from torchmagic.probes.members import Model
from torchmagic.probes.pacing import next_look
from torchmagic.probes.sites import place_of, site_of
from torchmagic.probes.taps import Taps
from torchmagic.records.precision import AutocastBackwardRecord, AutocastRecord, HalfWeightsRecord
from torchmagic.session.recorder import Recorder
from torchmagic.tensors.accelerators import autocast_kinds

HALF = (torch.float16, torch.bfloat16)
# Steps on which a region inside a model is looked for: the first ones, and then powers of two.
FIRST_STEPS = 2
is_any_autocast_enabled = torch._C._is_any_autocast_enabled


class MixedPrecision:
    """Records ``AutocastRecord``, ``AutocastBackwardRecord`` and ``HalfWeightsRecord``, and knows what was met."""

    def __init__(self, cast: Cast, taps: Taps, leaves: Leaves) -> None:
        self._cast, self._taps, self._leaves = cast, taps, leaves
        self._recorder: Recorder | None = None
        self._told: set[tuple[str, bool, str, str]] = set()
        self._ran_with: set[str] = set()
        self._around = self._looking = False
        self._backward_told = False
        self._seen = 0
        self.autocast_dtype: torch.dtype | None = None
        self.meets_half = False

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Listen for models, their innermost modules, and backwards."""
        self._recorder = recorder
        taps.on("root_begin", self._run_model)
        taps.on("leaf", self._look_inside)
        taps.on("backward_begin", self._go_back)
        self._look(wanted=True)

    def flush(self, step: int) -> None:
        """Look at weights, and decide whether the next step is looked at more closely."""
        if self._looking:
            for model in self._cast.models:
                self._look_at_weights(model)
        wanted = step + 1 < FIRST_STEPS or (step + 1) & step == 0
        if wanted is not self._looking:
            self._look(wanted=wanted)
        if not wanted and not self._ran_with:
            self._taps.rest(self, until=next_look(step) - 1)  # awake one step early, to have the leaves shown

    def detach(self) -> None:
        """Stop looking."""
        self._look(wanted=False)

    def _look(self, *, wanted: bool) -> None:
        self._looking = wanted
        self._seen = 0
        self._leaves.want(self, wanted=wanted)

    def _run_model(self, module: nn.Module, args: Any, kwargs: Any, frame: FrameType) -> None:
        self._around = is_any_autocast_enabled()
        if self._around or self._ran_with:
            model = self._cast.model_of(module)
            if model is not None:
                self._tell(model, inside=False)

    def _look_inside(self, module: nn.Module, args: Any, output: Any) -> None:
        if not self._looking:
            return
        self._seen += 1
        if self._seen == MOST_IDLE:
            self._leaves.want(self, wanted=False)
        if not self._around and is_any_autocast_enabled():
            model = self._cast.model_of(self._taps.stack[0]) if self._taps.stack else None
            if model is not None:
                self._tell(model, inside=True)

    def _tell(self, model: Model, *, inside: bool) -> None:
        """Record the way in which a model runs, once for each."""
        device_type, dtype = _region()
        if device_type:
            self.autocast_dtype = dtype
            self.meets_half = self.meets_half or dtype in HALF
            self._ran_with.add(model.name)
        elif model.name not in self._ran_with:
            return
        key = (model.name, inside, device_type, str(dtype))
        if key in self._told or self._recorder is None or (not device_type and self._ran_inside(model.name)):
            return
        self._told.add(key)
        self._recorder.add(
            AutocastRecord(
                model=model.name,
                step=self._recorder.step,
                enabled=bool(device_type),
                device_type=device_type,
                dtype=_short(dtype),
                inside=inside,
            )
        )

    def _ran_inside(self, name: str) -> bool:
        """Whether a model opens its own region, so that none around it says nothing."""
        return any(model == name and inside for model, inside, _, _ in self._told)

    def _go_back(self, tensors: Any, frame: FrameType) -> None:
        if self._backward_told or not is_any_autocast_enabled() or self._recorder is None:
            return
        device_type, dtype = _region()
        if device_type:
            self._backward_told = True
            self._recorder.add(
                AutocastBackwardRecord(
                    step=self._recorder.step,
                    device_type=device_type,
                    dtype=_short(dtype),
                    place=place_of(site_of(frame)),
                )
            )

    def _look_at_weights(self, model: Model) -> None:
        parameters = [tensor for ref in model.parameters.values() if (tensor := ref()) is not None]
        half = [tensor for tensor in parameters if tensor.dtype in HALF]
        if not half or self._recorder is None:
            return
        self.meets_half = True
        key = (model.name, False, "weights", str(len(half)))
        if key not in self._told:
            self._told.add(key)
            self._recorder.add(
                HalfWeightsRecord(
                    model=model.name,
                    step=self._recorder.step,
                    dtype=_short(half[0].dtype),
                    num_half=len(half),
                    num_parameters=len(parameters),
                )
            )


def _region() -> tuple[str, torch.dtype | None]:
    """Return device type and dtype of the autocast that is on here; an empty name when none is."""
    for device_type in autocast_kinds():
        if torch.is_autocast_enabled(device_type):
            return device_type, torch.get_autocast_dtype(device_type)
    return "", None


def _short(dtype: torch.dtype | None) -> str:
    return str(dtype).removeprefix("torch.") if dtype is not None else ""
