"""This file measures losses: the value on which each backward runs, by the name the user gave it."""

import re
from types import FrameType
from typing import Any

import torch

from torchmagic.probes.listeners import NEVER
from torchmagic.probes.probe import nothing_waits
from torchmagic.probes.scaling import Scaling
from torchmagic.probes.sites import Site, caller_of, place_of, site_of
from torchmagic.probes.taps import Taps
from torchmagic.records.loss import BackwardRecord
from torchmagic.session.recorder import Recorder
from torchmagic.tensors.reduce import fetch

_NAME = re.compile(r"autograd\.backward\(\s*(\w+)|(\w+)(?:\s*/\s*[\w.]+\s*\))?\.backward\(")


class _Waiting:
    """Hears of the ends of steps while values wait on a device: a listener of its own, so that it can rest."""

    def __init__(self, owner: "Losses") -> None:
        self._owner = owner

    def fetch(self, optimizer: torch.optim.Optimizer, nanoseconds: int) -> None:
        """Hand over what waits."""
        self._owner.fetch()


class Losses:
    """Records ``loss`` at each backward: on the CPU at once, on a device with the step's one transfer."""

    flush = nothing_waits

    def __init__(self) -> None:
        self._recorder: Recorder | None = None
        self._taps: Taps | None = None
        self._fetcher = _Waiting(self)
        self._names: dict[tuple[int, int], tuple[str]] = {}  # by code object and instruction
        self._codes: list[Site | None] = []  # held, so that no other code gets their identities
        self._scaling = Scaling()
        self._waiting: list[tuple[tuple[str], torch.Tensor]] = []

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Listen for backward passes."""
        self._recorder, self._taps = recorder, taps
        taps.on("backward_begin", self._backward)
        taps.on("step_end", self._fetcher.fetch)
        self._scaling.attach(taps)

    def fetch(self) -> None:
        """Hand over the values that waited on a device; where none did, only the next one wakes this again."""
        if not self._waiting and self._taps is not None:
            self._taps.rest(self._fetcher, until=NEVER)
        if self._waiting and self._recorder is not None:
            for (name, _), value in zip(self._waiting, fetch([each for _, each in self._waiting]), strict=True):
                self._recorder.append("loss", (value,), name)
            self._waiting.clear()

    def detach(self) -> None:
        """Let go of everything."""
        self._waiting.clear()

    def _backward(self, tensors: Any, frame: FrameType) -> None:
        if not isinstance(tensors, torch.Tensor):
            return
        loss = self._scaling.unscaled(tensors) if self._scaling.pair else tensors
        if loss is None or self._recorder is None or loss.numel() != 1 or loss.is_meta:
            return
        caller = caller_of(frame)
        where = (id(caller.f_code), caller.f_lasti) if caller is not None else (0, 0)
        name = self._names.get(where)
        if name is None:
            site = site_of(frame)
            name = self._names[where] = (loss_name(site),)
            self._codes.append(site)
            self._recorder.add(BackwardRecord(name=name[0], place=place_of(site)))
        if loss.is_cpu:
            self._recorder.append("loss", (loss.item(),), name)
        else:
            if self._taps is not None:
                self._taps.listeners.wake_up(self._fetcher)
            self._waiting.append((name, loss.detach()))


def loss_name(site: Site | None) -> str:
    """Return the variable on which ``backward`` is called, ``loss`` when the line does not say."""
    place = place_of(site)
    found = _NAME.search(place.source) if place is not None else None
    name = (found.group(1) or found.group(2)) if found else "loss"
    return name if name not in ("sum", "mean") else "loss"
