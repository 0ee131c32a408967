"""This file measures losses: the value on which each backward runs, by the name the user gave it."""

import math
import re
from collections import defaultdict
from functools import partial
from types import FrameType
from typing import Any

import torch

from torchmagic.probes.at_work import AtWork
from torchmagic.probes.derivatives import of_weights
from torchmagic.probes.listeners import NEVER
from torchmagic.probes.loss_rows import Rows, rows_of
from torchmagic.probes.loss_shares import SCALING, Shares, Value
from torchmagic.probes.origin_memory import Instruction
from torchmagic.probes.probe import nothing_waits
from torchmagic.probes.riders import Riders
from torchmagic.probes.scaling import Scaling
from torchmagic.probes.sites import Site, caller_of, place_of
from torchmagic.probes.taps import Taps
from torchmagic.records.loss import BackwardRecord
from torchmagic.session.recorder import Recorder
from torchmagic.tensors.presence import has_numbers
from torchmagic.tensors.reduce import fetch

# What is given a loss, torch's function or a trainer's method, and what a loss's own method is called on.
_GIVEN = re.compile(
    r"\bgrad\(\s*(\w+)\s*,|(?:autograd\.|accelerator\.|fabric\.|manual_)backward\(\s*(\w+)\s*[,)]|\.backward\(\s*(\w*loss\w*)\s*[,)]"
)
# Losses asked for within a step that are remembered: of several tasks, say.
MOST_ASKED = 16
_NAME = re.compile(r"autograd\.backward\(\s*(\w+)|(\w+)(?:\s*/\s*[\w.]+\s*\))?\.backward\(")


class _Waiting:
    """Hears of the ends of steps while values wait on a device: a listener of its own, so that it can rest."""

    def __init__(self, owner: "Losses") -> None:
        self._owner = owner

    def fetch(self, optimizer: torch.optim.Optimizer, nanoseconds: int) -> None:
        """Hand over what waits."""
        self._owner.fetch()


class Losses:
    """Records ``loss`` at each backward: on the CPU at once, on a device with the step's one transfer.

    ``loss_rows``, under the same name, is recorded where it is seen to change: over how many samples the loss is taken.

    A loss that was divided because several batches make one step is recorded whole, at the step's end. So is one whose
    gradients ``torch.autograd.grad`` was asked for, unless a backward follows before the step.

    Args:
        riders: Where values wait on a device until the gradients' norm is fetched from there.
        at_work: What is trained.
    """

    flush = nothing_waits

    def __init__(self, riders: Riders, at_work: AtWork) -> None:
        self._riders, self._at_work = riders, at_work
        self._recorder: Recorder | None = None
        self._taps: Taps | None = None
        self._fetcher = _Waiting(self)
        self._names: dict[tuple[int, int], tuple[str]] = {}  # by code object and instruction
        self._codes: list[Site | None] = []  # held, so that no other code gets their identities
        self._rows: defaultdict[str, Rows] = defaultdict(Rows)
        self._scaling = Scaling()
        self._shares = Shares()
        self._asked: list[tuple[Instruction | None, int, Value]] = []
        self._went = -1  # the step of the newest backward

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Listen for backward passes."""
        self._recorder, self._taps = recorder, taps
        taps.on("backward_begin", self._backward)
        taps.on("differentiated", self._differentiated)
        taps.on("functional_gradient", self._functional)
        taps.on("step_end", self._fetcher.fetch)
        taps.on("update_end", self._fetcher.fetch)
        self._scaling.attach(taps)

    def fetch(self) -> None:
        """Hand over the values that waited and that no norm took along; only the next one wakes this again."""
        recorder = self._recorder
        asked, self._asked = [] if recorder is None or recorder.step == self._went else self._asked, []
        for name, value in self._shares.take():
            self._tell(name, value)
        for instruction, rows, value in asked:
            name = self._name(instruction)
            if recorder is not None and self._rows[name[0]].are(rows):
                recorder.append("loss_rows", (rows,), name)
            self._tell(name, value)
        if self._riders.waiting:
            self._riders.arrive(fetch(self._riders.tensors))
        elif self._taps is not None:
            self._taps.rest(self._fetcher, until=NEVER)

    def detach(self) -> None:
        """Hand over what no step followed, of losses that were gone backward from, and let go of everything."""
        self._asked.clear()
        self.fetch()
        self._riders.clear()

    def _differentiated(self, tensors: Any, inputs: Any, frame: FrameType) -> None:
        """Hold the loss until the step: one in an inner loop, or of a penalty, is not what the training is for."""
        outside = self._taps is not None and not self._taps.depth
        if outside and len(tensors) == 1 and of_weights(inputs, self._at_work):
            self._ask(tensors[0], frame)

    def _functional(self, value: torch.Tensor, inputs: Any, gradients: Any, frame: FrameType) -> None:
        self._ask(value, frame)

    def _ask(self, loss: torch.Tensor, frame: FrameType) -> None:
        if self._taps is not None and self._readable(loss) is not None and len(self._asked) < MOST_ASKED:
            self._asked.append(
                (_instruction(caller_of(frame)), rows_of(loss), loss.item() if loss.is_cpu else loss.detach())
            )
            self._taps.listeners.wake_up(self._fetcher)

    def _readable(self, loss: torch.Tensor | None) -> torch.Tensor | None:
        if loss is None or self._recorder is None or loss.numel() != 1 or loss.is_meta:
            return None
        return loss if type(loss) is torch.Tensor or has_numbers(loss) else None

    def _backward(self, tensors: Any, frame: FrameType) -> None:
        if not isinstance(tensors, torch.Tensor):
            return
        loss = self._scaling.unscaled(tensors) if self._scaling.pair else tensors
        loss = self._readable(loss)
        if loss is None or self._recorder is None:
            return
        self._went = self._recorder.step
        caller = caller_of(frame)
        name = self._names.get((id(caller.f_code), caller.f_lasti)) if caller is not None else None
        if name is None:
            name = self._name(_instruction(caller))
        value = loss.item() if loss.is_cpu else loss.detach()
        rows = self._rows[name[0]]
        if rows.changed(loss, value if isinstance(value, float) else None):
            self._recorder.append("loss_rows", (rows.known,), name)
        divisor = self._shares.divisor(name[0], loss)
        if divisor is not None:
            self._shares.hold(name, divisor, value)
        elif not isinstance(value, torch.Tensor):
            self._recorder.append("loss", (value,), name)
        else:
            self._tell(name, value)
        if self._taps is not None and (divisor is not None or not loss.is_cpu):
            self._taps.listeners.wake_up(self._fetcher)

    def take_shortly(self, step: int, loss: torch.Tensor, caller: FrameType) -> bool:
        """Record a loss, one number on the host, where that is all there is to it; whether it is, and it is finite."""
        name, node, recorder = self._names.get((id(caller.f_code), caller.f_lasti)), loss.grad_fn, self._recorder
        if name is None or node is None or recorder is None or node.name() in SCALING:
            return False
        row, rows, value = recorder.newest.get("loss"), self._rows[name[0]], loss.item()
        if row is None or row.subjects != name or type(value) is not float or not math.isfinite(value):
            return False
        if rows.changed(loss, value):
            recorder.append("loss_rows", (rows.known,), name)
        row.append(step, (value,))
        self._went = step
        return True

    def _name(self, where: Instruction | None) -> tuple[str]:
        """Return what the user calls a loss; record the line where that is new."""
        key = (id(where.code), where.lasti) if where is not None else (0, 0)
        name, recorder = self._names.get(key), self._recorder
        if name is None:
            site = where.site() if where is not None else None
            name = self._names[key] = (loss_name(site),)
            self._codes.append(site)
            if recorder is not None:
                recorder.add(BackwardRecord(name=name[0], place=place_of(site), step=recorder.step))
        return name

    def _tell(self, name: tuple[str], value: Value) -> None:
        if isinstance(value, torch.Tensor):
            self._riders.add(value, partial(self._tell, name))
        elif self._recorder is not None:
            self._recorder.append("loss", (value,), name)


def _instruction(caller: FrameType | None) -> Instruction | None:
    return Instruction(caller.f_code, caller.f_lasti) if caller is not None else None


def loss_name(site: Site | None) -> str:
    """Return the variable on which ``backward`` is called, ``loss`` when the line does not say."""
    place = place_of(site)
    found = (_GIVEN.search(place.source) or _NAME.search(place.source)) if place is not None else None
    name = next(filter(None, found.groups())) if found else "loss"
    return name if name not in ("sum", "mean") else "loss"
