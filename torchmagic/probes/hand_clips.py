"""This file watches whether gradients are bounded by hand while they are still multiplied by a loss scale."""

from types import FrameType
from typing import Any

import torch

from torchmagic.analyses.hand_clips import called_between, clips_between, clips_in
from torchmagic.probes.cast import Cast
from torchmagic.probes.listeners import NEVER
from torchmagic.probes.members import Optimizer
from torchmagic.probes.probe import nothing_waits
from torchmagic.probes.sites import Site, place_of, site_of, source_of
from torchmagic.probes.taps import Taps
from torchmagic.records.precision import Deed, ScaledGradientsRecord
from torchmagic.session.recorder import Recorder
from torchmagic.tensors.reduce import norms

# Steps that are looked at: who clips does so from the start, though the first gradients may be short.
MOST_STEPS = 8
# Parameters whose gradients stand for all.
FEW = 8
# Code that knows the scale takes it into account.
KNOWS_THE_SCALE = ("get_scale", "._scale")


class HandClips:
    """Records ``ScaledGradientsRecord`` for gradients that code of the user's bounds before a scaler's step."""

    flush = nothing_waits

    def __init__(self, cast: Cast) -> None:
        self._cast = cast
        self._recorder: Recorder | None = None
        self._taps: Taps | None = None
        self._left: dict[int, list[float]] = {}  # lengths of gradients, as the last scaled backward left them
        self._scaled = False
        self._backward: Site | None = None
        self._steps = 0

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Listen for scalers, and for backward passes of what they have scaled."""
        self._recorder, self._taps = recorder, taps
        taps.on("scaled", self._scales)
        taps.on("unscaled", self._forget)
        taps.on("clipped", self._forget)
        taps.on("backward_begin", self._backward_begins)
        taps.on("backward_end", self._backward_ends)
        taps.on("scaler_step_begin", self._step_begins)
        taps.on("step_end", self._ended)

    def detach(self) -> None:
        """Let go of everything."""
        self._left.clear()
        self._recorder = None

    def _scales(self, loss: Any, scaled: Any) -> None:
        self._scaled = loss is not scaled

    def _forget(self, *_: Any) -> None:
        self._left.clear()

    def _backward_begins(self, tensors: Any, frame: FrameType) -> None:
        self._left.clear()
        if self._scaled:
            self._backward = site_of(frame)

    def _backward_ends(self, tensors: Any, nanoseconds: int) -> None:
        if self._scaled:
            self._left = {id(entry): _lengths(entry) for entry in self._cast.optimizers}

    def _step_begins(self, scaler: Any, optimizer: torch.optim.Optimizer, frame: FrameType) -> None:
        entry = next((each for each in self._cast.optimizers if each.ref() is optimizer), None)  # none at its first
        before = self._left.pop(id(entry), None)
        if entry is None or not before or not scaler.is_enabled():
            return
        after = _lengths(entry)
        shrunk = len(before) == len(after) and any(new < old for new, old in zip(after, before, strict=True))
        if shrunk and not any(new > old for new, old in zip(after, before, strict=True)):
            self._tell(float(scaler.get_scale()), site_of(frame))

    def _tell(self, scale: float, step: Site | None) -> None:
        place = place_of(self._line(step)) if step is not None else None
        if place is not None and self._recorder is not None:
            self._recorder.add(
                ScaledGradientsRecord(step=self._recorder.step, deed=Deed.CLIP, scale=scale, place=place)
            )

    def _line(self, step: Site) -> Site | None:
        """Return the line between backward and step that bounds gradients, or one in a function that is called there.

        None where it is not seen, or where code knows the scale.
        """
        source, known = source_of(step.code.co_filename), self._backward
        first = known.line if known is not None and known.code is step.code else step.code.co_firstlineno
        found = [Site(step.code, line) for line in clips_between(source, first, step.line)]
        texts = [source]
        called = called_between(source, first, step.line)
        for name, function in [] if found else self._cast.names.functions():
            code = function.__code__
            if name in called:
                texts.append(source_of(code.co_filename))
                found += [Site(code, line) for line in clips_in(texts[-1], code.co_name)]
        knows = any(word in text for text in texts for word in KNOWS_THE_SCALE)
        return found[0] if found and not knows else None

    def _ended(self, optimizer: Any, nanoseconds: int) -> None:
        self._left.clear()
        self._scaled = False
        self._steps += 1
        if self._steps >= MOST_STEPS and self._taps is not None:
            self._taps.rest(self, until=NEVER)


def _lengths(entry: Optimizer) -> list[float]:
    """Return the norms of some of an optimizer's gradients."""
    some = [ref() for ref in entry.refs[:: len(entry.refs) // FEW or 1]]
    held = [each.grad.detach() for each in some if each is not None and each.grad is not None]
    return norms(held) if held else []
