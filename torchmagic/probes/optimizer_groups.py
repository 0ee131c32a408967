"""This file watches the groups of optimizers: what each was told, and where its optimizer was built."""

import weakref
from collections.abc import Mapping
from types import FrameType
from typing import Any

import torch

from torchmagic.probes.cast import Cast
from torchmagic.probes.construction_lines import lines_of
from torchmagic.probes.pacing import FIRST_STEPS, next_look
from torchmagic.probes.probe import nothing_waits
from torchmagic.probes.sites import Site, place_of
from torchmagic.probes.taps import Taps
from torchmagic.records.objective import GroupRecord
from torchmagic.session.recorder import Recorder
from torchmagic.tensors.batch import has_values

# Optimizers that are told; a loop may build one for each fold.
MOST_OPTIMIZERS = 64
# What a group has that is no setting, is a field of its own, or only says how the same step is computed.
NO_SETTINGS = frozenset({
    "params", "param_names", "name", "lr", "weight_decay", "maximize", "decoupled_weight_decay",
    "foreach", "capturable", "differentiable",
})  # fmt: skip
# Numbers of one setting that are told.
MOST_NUMBERS = 8
Setting = bool | int | float | str


class BuildingSites:
    """Remembers where optimizers were built; it never rests."""

    flush = nothing_waits

    def __init__(self) -> None:
        self._sites: dict[int, tuple[weakref.ref[torch.optim.Optimizer], Site | None]] = {}

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Listen for optimizers that are built."""
        taps.on("optimizer_built", self._built)

    def detach(self) -> None:
        """Let go of everything."""
        self._sites.clear()

    def of(self, optimizer: torch.optim.Optimizer) -> Site | None:
        """Return where an optimizer was built; None where that was before the run."""
        found = self._sites.get(id(optimizer))
        return found[1] if found is not None and found[0]() is optimizer else None

    def _built(self, optimizer: torch.optim.Optimizer, frame: FrameType) -> None:
        self._sites[id(optimizer)] = weakref.ref(optimizer), next(iter(lines_of(optimizer, frame)), None)


class OptimizerGroups:
    """Records a ``GroupRecord`` for each group of each optimizer that steps."""

    def __init__(self, cast: Cast, sites: BuildingSites) -> None:
        self._cast, self._sites = cast, sites
        self._recorder: Recorder | None = None
        self._taps: Taps | None = None
        self._known: dict[int, Any] = {}

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Listen for steps: the first one of an optimizer wakes everybody, as it is under way."""
        self._recorder, self._taps = recorder, taps
        taps.on("step_end", self._step)

    def flush(self, step: int) -> None:
        """Rest until another optimizer comes."""
        if step >= FIRST_STEPS and self._taps is not None:
            self._taps.rest(self, until=next_look(step))

    def detach(self) -> None:
        """Let go of everything."""
        self._known.clear()

    def _step(self, optimizer: torch.optim.Optimizer, nanoseconds: int) -> None:
        known = self._known.get(id(optimizer))
        if known is not None and known() is optimizer:
            return
        self._known[id(optimizer)] = weakref.ref(optimizer)
        if len(self._known) <= MOST_OPTIMIZERS and self._recorder is not None:
            for record in self._records(optimizer):
                self._recorder.add(record)

    def _records(self, optimizer: torch.optim.Optimizer) -> list[GroupRecord]:
        entry = self._cast.optimizer(optimizer)
        built, step = place_of(self._sites.of(optimizer)), self._recorder.step if self._recorder is not None else 0
        found, begin = [], 0
        for i, group in enumerate(optimizer.param_groups):
            end = begin + len(group["params"])
            rate, decay = group.get("lr"), group.get("weight_decay", 0.0)
            found.append(
                GroupRecord(
                    optimizer=entry.name,
                    class_name=entry.class_name,
                    subject=entry.name if len(optimizer.param_groups) == 1 else f"{entry.name}[{i}]",
                    parameters=entry.names[begin:end],
                    num_elements=sum(p.numel() for p in group["params"] if not torch.nn.parameter.is_lazy(p)),
                    lr=None if rate is None else float(rate),
                    weight_decay=float(decay) if isinstance(decay, (int, float)) else 0.0,
                    decoupled=bool(group.get("decoupled_weight_decay", "AdamW" in entry.class_name)),
                    maximize=bool(group.get("maximize", False)),
                    step=step,
                    built=built,
                    settings=settings_of(group),
                )
            )
            begin = end
        return found


def settings_of(group: Mapping[str, Any]) -> dict[str, Setting]:
    """Return the settings of a group beside those that a ``GroupRecord`` has fields for."""
    found = {str(name): _setting(value) for name, value in group.items() if name not in NO_SETTINGS}
    return {name: value for name, value in found.items() if value is not None}


def _setting(value: Any) -> Setting | None:
    """Return a setting as a plain value; None for what is none, and for a tensor on a device, which takes a wait."""
    if value is None:
        return "none"
    if type(value) in (tuple, list):
        parts = [_setting(each) for each in value[:MOST_NUMBERS]]
        return None if None in parts else ", ".join(map(str, parts))
    if type(value) is torch.Tensor and value.device.type == "cpu" and value.numel() == 1 and has_values(value):
        return _setting(value.item())
    return value if type(value) in (bool, int, float, str) else None
