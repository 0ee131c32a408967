"""This file watches clipping: whether a step uses the gradients that a line has clipped."""

import math
from collections.abc import Iterable
from types import FrameType
from typing import Any

import torch

from torchmagic.probes.cast import Cast
from torchmagic.probes.listeners import NEVER
from torchmagic.probes.probe import nothing_waits
from torchmagic.probes.sites import Site, is_librarys, is_users, place_of, site_of
from torchmagic.probes.taps import Taps
from torchmagic.records.clipping import ClippingLineRecord, ClipRecord
from torchmagic.session.recorder import Recorder
from torchmagic.tensors.genuine import is_optimizer

# A limit like this clips nothing: it is a way to ask for the norm.
NO_LIMIT = 1e6
# Parameters whose gradients stand for all that a line clips, and lines that are told apart.
FEW, MOST_LINES = 8, 32
# Once each line's clips were used so often, steps go by between two looks.
FIRST_USES, BETWEEN_LOOKS = 6, 64
# Where nothing clipped in so many first steps, the first clip wakes the probe.
FIRST_STEPS = 8


class _Line:
    """A line that clips, and what became of what it clipped."""

    def __init__(self) -> None:
        self.owner = ""
        self.waiting = False  # clipped since the owner's last step
        self.fresh = False  # a backward had run since that step
        self.backwards = 0
        self.clipped: dict[int, tuple[int, int]] = {}
        self.used = self.unused = self.after_step = self.empty = self.gradless = self.first = 0


class _Clips:
    """Hears of clips at all times: a listener of its own, so that the probe can rest while nothing clips."""

    def __init__(self, owner: "Clipping") -> None:
        self._owner = owner

    def clipped(self, parameters: Any, limit: Any, frame: FrameType) -> None:
        """Hand a clip on, and wake a probe that waits for the first one."""
        self._owner.clipped(parameters, limit, frame)


class Clipping:
    """Records ``ClippingLineRecord`` for each line that clips, and ``ClipRecord`` as the run ends.

    The latter is made for each line of whose clips some were for nothing.

    A clip is used when its owner steps on gradients that a backward made after the step before, and that are as the
    clip left them: no other backward has added to them.
    """

    flush = nothing_waits

    def __init__(self, cast: Cast) -> None:
        self._cast = cast
        self._recorder: Recorder | None = None
        self._taps: Taps | None = None
        self._lines: dict[Site | None, _Line] = {}
        self._owners: dict[int, tuple[set[int], int]] = {}  # parameters, and backwards as it last stepped
        self._backwards = 0
        self._unscaled = False
        self._clips = _Clips(self)

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Listen for clips, and what they stand between."""
        self._taps, self._recorder = taps, recorder
        taps.on("clipped", self._clips.clipped)
        taps.on("backward_begin", self._backward)
        taps.on("unscaled", self._unscales)
        taps.on("scaler_step_begin", self._scaler_steps)
        taps.on("step_begin", self._step_begins)
        taps.on("step_end", self._step_ends)

    def detach(self) -> None:
        """Hand over what was for nothing."""
        recorder, self._recorder = self._recorder, None
        if recorder is not None:
            for site, line in self._lines.items():
                if line.unused or line.gradless:
                    recorder.add(
                        ClipRecord(
                            optimizer=line.owner,
                            step=line.first,
                            used=line.used,
                            unused=line.unused,
                            after_step=line.after_step,
                            empty=line.empty,
                            gradless=line.gradless,
                            place=place_of(site),
                        )
                    )
        self._lines.clear()

    def clipped(self, parameters: Any, limit: Any, frame: FrameType) -> None:
        """Remember what a line clips, unless its clips have been seen to be used."""
        if self._taps is not None and self._taps.listeners.rests(self):
            if self._lines:
                return
            self._taps.listeners.wake_up(self)
        if not isinstance(limit, int | float) or not math.isfinite(limit) or limit >= NO_LIMIT:
            return
        site = site_of(frame)
        line = self._lines.get(site) or self._new_line(site)
        if line is None:
            return
        owners = [parameters] if isinstance(parameters, torch.Tensor) else list(parameters)
        if not owners:
            if not line.waiting:  # else it has clipped another part for the same step
                line.clipped, line.waiting = {}, bool(self._owners) and _is_called_by_user(frame)
            return
        some = owners[:: len(owners) // FEW or 1]
        line.clipped = {id(p): (id(p.grad), p.grad._version) for p in some if p.grad is not None}
        if not line.clipped:
            line.clipped = {id(p): (0, -1) for p in some}
        line.waiting, line.backwards = True, self._backwards
        before = [done for mine, done in self._owners.values() if not mine.isdisjoint(line.clipped)]
        line.fresh = bool(before) and self._backwards > min(before)
        if not before:
            line.waiting = False  # nobody has stepped on these yet: it is not known what a step would be
            line.gradless += bool(self._owners) and all(p.grad is None for p in owners)

    def _new_line(self, site: Site | None) -> _Line | None:
        if len(self._lines) >= MOST_LINES or self._recorder is None:
            return None
        self._recorder.add(ClippingLineRecord(step=self._recorder.step, place=place_of(site)))
        line = self._lines[site] = _Line()
        return line

    def _backward(self, tensors: Any, frame: FrameType) -> None:
        self._backwards += 1

    def _unscales(self, scaler: Any, optimizer: Any) -> None:
        self._unscaled = True

    def _scaler_steps(self, scaler: Any, optimizer: Any, frame: FrameType) -> None:
        """Take a step that the scaler may leave out for one."""
        self._unscaled = True
        if is_optimizer(optimizer):
            self._judge(optimizer, type(optimizer).__name__)

    def _step_begins(self, optimizer: torch.optim.Optimizer, frame: FrameType) -> None:
        if self._lines:
            self._judge(optimizer, self._cast.optimizer(optimizer).name)

    def _step_ends(self, optimizer: torch.optim.Optimizer, nanoseconds: int) -> None:
        if self._lines:
            self._judge(optimizer, self._cast.optimizer(optimizer).name)  # a closure clips within the step
        self._owners[id(optimizer)] = (_identities(optimizer), self._backwards)
        self._unscaled = False
        step = self._recorder.step if self._recorder is not None else 0
        if not self._lines:
            if step >= FIRST_STEPS:
                self._rest(until=NEVER)
        elif all(line.used >= FIRST_USES and not line.unused for line in self._lines.values()):
            self._rest(until=step + BETWEEN_LOOKS)

    def _judge(self, optimizer: torch.optim.Optimizer, name: str) -> None:
        """Say of each line that clipped this optimizer's gradients whether the step uses them."""
        waiting = [line for line in self._lines.values() if line.waiting]
        if not waiting:
            return
        held = {
            id(p): (id(p.grad), p.grad._version)
            for group in optimizer.param_groups
            for p in group["params"]
            if p.grad is not None
        }
        mine = _identities(optimizer)
        for line in waiting:
            if line.clipped and mine.isdisjoint(line.clipped):
                continue
            line.waiting, line.owner = False, name
            as_clipped = any(held.get(each) == state for each, state in line.clipped.items())
            if line.clipped and line.fresh and (as_clipped or self._unscaled or self._backwards == line.backwards):
                line.used += 1
                continue
            if not line.unused and self._recorder is not None:
                line.first = self._recorder.step
            line.unused += 1
            line.empty += not line.clipped
            line.after_step += (
                bool(line.clipped) and not line.fresh and any(state != (0, -1) for state in line.clipped.values())
            )

    def _rest(self, *, until: int) -> None:
        for line in self._lines.values():
            line.waiting = False
        self._owners.clear()
        if self._taps is not None:
            self._taps.rest(self, until=until)


def _identities(optimizer: torch.optim.Optimizer) -> set[int]:
    groups: Iterable[Any] = optimizer.param_groups
    return {id(parameter) for group in groups for parameter in group["params"]}


def _is_called_by_user(frame: FrameType | None) -> bool:
    """Whether the user's own line clips, and not a library on its behalf."""
    while frame is not None and not is_users(frame):
        if is_librarys(frame):
            return False
        frame = frame.f_back
    return frame is not None
