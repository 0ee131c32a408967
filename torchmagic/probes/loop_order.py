"""This file watches steps without gradients: those that were reset too early, and those that no backward made."""

from collections.abc import Sequence
from types import FrameType
from typing import Any

import torch

from torchmagic.analyses.gradient_lines import reset_between
from torchmagic.probes.cast import Cast
from torchmagic.probes.gradients import Gradients
from torchmagic.probes.members import Optimizer
from torchmagic.probes.probe import nothing_waits
from torchmagic.probes.sites import Site, place_of, site_of, source_of
from torchmagic.probes.taps import Taps
from torchmagic.records.loop import Idle, IdleStepRecord
from torchmagic.records.place import Place
from torchmagic.session.recorder import Recorder
from torchmagic.tensors.reduce import norms

# Enough records of one optimizer to convince a rule.
MOST_RECORDS = 12
# Once every optimizer made so many steps on gradients in a row, steps go by between two looks, ever more.
FIRST_STEPS, LATER_STEPS, BETWEEN_LOOKS, LONGEST_REST = 6, 2, 32, 128
# Parameters whose gradients stand for all.
FEW = 8


class _Loop:
    """What an optimizer's steps found."""

    def __init__(self, entry: Optimizer) -> None:
        self.entry = entry
        self.seen = False  # whether the step before was seen, and all that came after it
        self.held: list[tuple[int, int]] = []  # gradients as the last backward left them
        self.backwards = 0  # of all, as its last step ended
        self.ended = -1  # when that was
        self.steps = self.good = 0
        self.counts = {Idle.RESET: 0, Idle.NO_BACKWARD: 0}
        self.differentiated = self.applied = False  # since its last step: see ``IdleStepRecord``
        self._lengths: list[float] = []

    def differentiate(self, inputs: Sequence[object]) -> None:
        """Take in that gradients of some tensors are asked for, which go to no ``.grad``."""
        given = {id(each) for each in inputs}
        if any(id(each) in given for each in self._few()):
            self.differentiated = True
            if self.counts[Idle.NO_BACKWARD]:
                self._lengths = norms([each.detach() for each in self._few()])

    def compare(self) -> None:
        """Notice that the loop has changed the parameters by itself."""
        if self._lengths and norms([each.detach() for each in self._few()]) != self._lengths:
            self.applied = True
        self._lengths = []

    def _few(self) -> list[torch.Tensor]:
        refs = self.entry.refs
        return [each for ref in refs[:: len(refs) // FEW or 1] if (each := ref()) is not None]

    def gradients(self) -> list[tuple[int, int]]:
        """Return identities and versions of some of its gradients."""
        return [(id(each.grad), each.grad._version) for each in self._few() if each.grad is not None]


class LoopOrder:
    """Records ``IdleStepRecord`` for a step on gradients that are all None or zero, and says why they are.

    A step before which nothing was computed or reset, such as one that only moves a schedule, is left out.

    Args:
        cast: The optimizers.
        gradients: Has measured the total norm of the step's gradients, and hears of a step before this probe does.
    """

    flush = nothing_waits

    def __init__(self, cast: Cast, gradients: Gradients) -> None:
        self._cast, self._gradients = cast, gradients
        self._recorder: Recorder | None = None
        self._taps: Taps | None = None
        self._loops: dict[int, _Loop] = cast.at_work.notes()
        self._forget()
        self._began = 0
        self._site: Site | None = None
        self._first_steps, self._between = FIRST_STEPS, BETWEEN_LOOKS

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Listen for what an iteration is made of."""
        self._taps, self._recorder = taps, recorder
        taps.on("root_begin", self._forward)
        taps.on("loss", self._computed)
        taps.on("backward_begin", self._backward_begins)
        taps.on("backward_end", self._backward_ends)
        taps.on("differentiated", self._differentiates)
        taps.on("reset", self._resets)
        taps.on("step_begin", self._step_begins)
        taps.on("step_end", self._step_ends)

    def detach(self) -> None:
        """Let go of everything."""
        self._loops.clear()

    def _forget(self) -> None:
        """Begin to look: nothing is known of what happened before."""
        self._clock = 0  # counts events
        self._forward_at = self._backward_at = self._reset_at = self._used_at = -1
        self._backwards = 0
        self._reset: Site | None = None
        self._backward: Site | None = None

    def _forward(self, module: Any, args: Any, kwargs: Any, frame: FrameType) -> None:
        self._clock += 1
        if self._taps is not None and self._taps.grad_enabled:
            self._forward_at = self._clock

    def _computed(self, name: str, args: Any, kwargs: Any, output: Any, frame: FrameType) -> None:
        if self._taps is not None and self._taps.grad_enabled:
            self._clock += 1
            self._forward_at = self._clock

    def _backward_begins(self, tensors: Any, frame: FrameType) -> None:
        self._backwards += 1
        self._backward = site_of(frame)

    def _backward_ends(self, tensors: Any, nanoseconds: int) -> None:
        self._clock += 1
        self._backward_at = self._clock
        for loop in self._loops.values():
            loop.held = loop.gradients()

    def _differentiates(self, tensors: Any, inputs: Any, frame: FrameType) -> None:
        for loop in self._loops.values():
            loop.differentiate(inputs)

    def _resets(self, owner: Any, frame: FrameType) -> None:
        self._clock += 1
        self._reset_at, self._reset = self._clock, site_of(frame)

    def _step_begins(self, optimizer: torch.optim.Optimizer, frame: FrameType) -> None:
        entry = self._cast.optimizer(optimizer)
        if id(entry) not in self._loops:
            self._loops[id(entry)] = _Loop(entry)
        self._loops[id(entry)].compare()
        self._site, self._began = site_of(frame), self._clock

    def _step_ends(self, optimizer: torch.optim.Optimizer, nanoseconds: int) -> None:
        entry = self._cast.optimizer(optimizer)
        loop = self._loops.get(id(entry))
        if loop is None:
            return
        self._clock += 1
        loop.steps += 1
        idle = self._why_idle(loop, optimizer)
        if self._gradients.total:
            self._used_at = self._clock
            loop.good += 1
        if idle is not None and loop.seen:
            loop.good = 0
            loop.counts[idle] += 1
            if loop.counts[idle] <= MOST_RECORDS:
                self._tell(loop, idle)
        loop.held, loop.backwards, loop.ended, loop.seen = [], self._backwards, self._clock, True
        loop.differentiated = loop.applied = False
        if all(each.good >= self._first_steps for each in self._loops.values()):
            self._rest()

    def _why_idle(self, loop: _Loop, optimizer: torch.optim.Optimizer) -> Idle | None:
        """Return why a step had no gradients; None where it had some, or where nobody can tell."""
        total = self._gradients.total
        if total is not None and total != 0.0:
            return None
        if not str(type(optimizer).step.__module__).startswith("torch."):
            return None  # one of the user's own may need no gradients
        if loop.held and max(self._forward_at, self._used_at) < max(self._reset_at, self._backward_at):
            reset = self._reset_at > self._backward_at or total is None or self._reset_by_hand() is not None
            return Idle.RESET if reset else None
        if max(self._forward_at, self._reset_at) <= loop.ended:
            return None  # nothing happened that a backward could have been for
        if self._backwards == loop.backwards:
            return Idle.NO_BACKWARD
        others = self._backward_at < self._used_at and self._used_at < self._forward_at
        return Idle.NO_BACKWARD if others and len(self._loops) > 1 else None

    def _tell(self, loop: _Loop, why: Idle) -> None:
        if self._recorder is None:
            return
        self._recorder.add(
            IdleStepRecord(
                optimizer=loop.entry.name,
                step=self._recorder.step,
                why=why,
                count=loop.counts[why],
                steps=loop.steps,
                closure=self._forward_at > self._began,
                computed=self._forward_at > loop.ended,
                place=place_of(self._site),
                reset=self._reset_place() if why is Idle.RESET else None,
                differentiated=loop.differentiated,
                applied=loop.applied,
            )
        )

    def _reset_place(self) -> Place | None:
        """Return the line of ``zero_grad``, or the one that resets by hand."""
        return place_of(self._reset if self._reset_at > self._backward_at else self._reset_by_hand())

    def _reset_by_hand(self) -> Site | None:
        """Return the line between the backward and the step whose text says that it empties gradients."""
        if self._site is None:
            return None
        code = self._site.code
        first = self._backward.line if self._backward is not None and self._backward.code is code else 0
        line = reset_between(source_of(code.co_filename), first, self._site.line)
        return Site(code, line) if line else None

    def _rest(self) -> None:
        """Let some steps go by."""
        self._first_steps = LATER_STEPS
        self._forget()
        for loop in self._loops.values():
            loop.seen, loop.good, loop.held = False, 0, []
        if self._taps is not None and self._recorder is not None:
            self._taps.rest(self, until=self._recorder.step + self._between)
            self._between = min(2 * self._between, LONGEST_REST)
