"""This file watches whether gradients are reset between the steps of an optimizer."""

from types import FrameType
from typing import Any

import torch

from torchmagic.probes.cast import Cast
from torchmagic.probes.members import Optimizer
from torchmagic.probes.probe import nothing_waits
from torchmagic.probes.sites import Site, place_of, site_of
from torchmagic.probes.taps import Taps
from torchmagic.records.protocol import UnclearedGradientsRecord
from torchmagic.session.recorder import Recorder
from torchmagic.tensors.reduce import norms

# Enough records to convince a rule; later ones would say the same.
MOST_RECORDS = 12
# Once gradients were zero, or None, this often, steps go by between two looks; one that is not clean brings back all.
CLEAN_LOOKS, NONE_LOOKS, BETWEEN_STEPS = 8, 16, 15
# Later more steps go by.
LATER, BETWEEN_LATER = 128, 63
# Where none of so many parameters holds a gradient, all were reset to None: the usual case, which must cost nothing.
FEW = 8
NOBODY: frozenset[int] = frozenset()


class _Between:
    """What happened to an optimizer's gradients since its last step began, or ended."""

    def __init__(self) -> None:
        # Parameters never seen reset; None before the first backward that counts.
        self.dirty: set[int] | frozenset[int] | None = NOBODY
        self.versions: dict[int, tuple[int, int]] = {}
        self.left: dict[int, tuple[int, int]] = {}  # the same as the last step, or a clipping after it, left them
        self.received: dict[int, int] = {}  # the identities of the gradients that a backward added to
        self.site: Site | None = None
        self.clean_looks = self.none_looks = 0
        self.records = 0
        self.streak = 0
        self.has_closure = self.looked = False

    def begin_again(self) -> None:
        """Forget what happened before a step, or within one."""
        self.versions, self.received = {}, {}
        self.dirty = None if self.records < MOST_RECORDS else NOBODY

    @property
    def is_calm(self) -> bool:
        """Whether the user has been seen to reset gradients often enough."""
        return self.none_looks > NONE_LOOKS or self.clean_looks > CLEAN_LOOKS


class Clearing:
    """Records ``UnclearedGradientsRecord`` for a step on gradients that still hold those of the step before.

    A parameter counts when, at every backward since the last step, it already held a gradient that was not zero, and
    one of them added to it. A gradient that the user puts in its place after that is the user's, and so is one that the
    user changes between step and backward, as for a momentum; but for a clipping that comes too late.
    """

    flush = nothing_waits

    def __init__(self, cast: Cast) -> None:
        self._cast = cast
        self._recorder: Recorder | None = None
        self._states: dict[int, _Between] = cast.at_work.notes()
        self._inside: _Between | None = None
        self._taps: Taps | None = None

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Listen for backward passes and steps."""
        self._recorder, self._taps = recorder, taps
        taps.on("backward_begin", self._backward)
        taps.on("backward_end", self._backward_ends)
        taps.on("step_begin", self._step_begins)
        taps.on("step_end", self._step_ends)
        taps.on("update_end", self._updated)
        taps.on("clip", self._clipped)
        taps.on("clip_value", self._clipped)

    def detach(self) -> None:
        """Let go of everything."""
        self._states.clear()

    def _backward(self, tensors: Any, frame: FrameType) -> None:
        for entry in self._cast.at_work.steppers:
            state = self._states.get(id(entry))
            if state is None or (state.dirty is not None and not state.dirty):
                continue
            dirty = self._held(entry.refs, state)
            if state.dirty is None:
                state.dirty = {i for i in dirty if state.left.get(i, state.versions[i]) == state.versions[i]}
            else:
                state.dirty &= dirty
            if state.dirty:
                state.site = site_of(frame)

    def _backward_ends(self, tensors: Any, nanoseconds: int) -> None:
        for entry in self._cast.at_work.steppers:
            state = self._states.get(id(entry))
            if state is None or not state.dirty:
                continue
            for i in state.dirty:
                gradient = _gradient(entry.refs[i])
                if gradient is not None and (id(gradient), gradient._version) != state.versions.get(i):
                    state.received[i] = id(gradient)

    def _held(self, refs: list[Any], state: _Between) -> set[int]:
        """Return the indices of parameters that hold a gradient which is not zero."""
        state.looked = True
        few = refs[:: len(refs) // FEW or 1]
        if all(tensor is None or tensor.grad is None for tensor in [ref() for ref in few]):
            state.none_looks += 1
            return set()
        state.none_looks = 0
        held = _gradients(refs)
        if not held:
            return set()
        state.versions = _versions(held)
        lengths = norms([gradient.detach() for gradient in held.values()])
        dirty = {i for i, length in zip(held, lengths, strict=True) if length != 0.0}
        state.clean_looks = 0 if dirty else state.clean_looks + 1
        return dirty

    def _updated(self, by_hand: Any, _: object) -> None:
        self._step_begins(by_hand, None)
        self._step_ends(by_hand, 0)

    def _step_begins(self, optimizer: torch.optim.Optimizer, frame: FrameType | None) -> None:
        entry = self._cast.optimizer(optimizer)
        state = self._states.get(id(entry))
        if state is None:
            state = self._states[id(entry)] = _Between()
        self._inside = state
        if state.dirty is not None or not state.has_closure:
            self._judge(entry, state)
        state.begin_again()

    def _step_ends(self, optimizer: torch.optim.Optimizer, nanoseconds: int) -> None:
        state, self._inside = self._inside, None
        if state is None:
            return
        entry = self._cast.optimizer(optimizer)
        state.has_closure = state.dirty is not None and state.records < MOST_RECORDS
        if state.has_closure:  # a backward ran within the step
            self._judge(entry, state)
        state.begin_again()
        state.left = {}
        if state.dirty is None and not (state.none_looks or state.clean_looks):  # whoever resets has nothing left
            state.left = _versions(_gradients(entry.refs))
        if state.looked and all(each.is_calm and each.looked for each in self._states.values()):
            self._rest()

    def _judge(self, entry: Optimizer, state: _Between) -> None:
        """Record that all backward passes since the last time added to what was there before."""
        grown = [
            i for i in state.dirty or () if i in state.received and id(_gradient(entry.refs[i])) == state.received[i]
        ]
        state.streak = state.streak + 1 if grown else 0
        if not grown or self._recorder is None:
            return
        state.records += 1
        self._recorder.add(
            UnclearedGradientsRecord(
                optimizer=entry.name,
                step=self._recorder.step,
                num_parameters=len(grown),
                total=len(state.versions),
                streak=state.streak,
                backward=place_of(state.site),
            )
        )

    def _clipped(self, _: Any) -> None:
        """Take in that gradients were clipped: after a step that is late, and no reset."""
        for entry in self._cast.at_work.steppers:
            state = self._states.get(id(entry))
            if state is not None and state.dirty is None and state.left:
                state.left = _versions(_gradients(entry.refs))

    def _rest(self) -> None:
        """Let some steps go by; the one after them is looked at."""
        for state in self._states.values():
            state.looked, state.dirty = False, NOBODY
        if self._taps is not None and self._recorder is not None:
            step = self._recorder.step
            self._taps.rest(self, until=step + (BETWEEN_STEPS if step < LATER else BETWEEN_LATER))


def _gradient(ref: Any) -> torch.Tensor | None:
    tensor = ref()
    return tensor.grad if tensor is not None else None


def _gradients(refs: list[Any]) -> dict[int, torch.Tensor]:
    """Return the gradients that there are, by their parameters' indices."""
    return {i: gradient for i, ref in enumerate(refs) if (gradient := _gradient(ref)) is not None}


def _versions(held: dict[int, torch.Tensor]) -> dict[int, tuple[int, int]]:
    """Return identity and version of gradients: they differ once one was replaced or changed in place."""
    return {i: (id(gradient), gradient._version) for i, gradient in held.items()}
