"""This file watches for backward passes over what a model computed with gradients switched off."""

import inspect
from typing import Any

import torch

from torchmagic.analyses.source_lines import line_at
from torchmagic.analyses.switched_off import last_switch, left_open, switches
from torchmagic.probes.cast import NEVER, Cast
from torchmagic.probes.crash_frames import Entry, users
from torchmagic.probes.crash_sources import modules_of
from torchmagic.probes.module_parts import parameters_of
from torchmagic.probes.notebook_text import notebook_text
from torchmagic.probes.probe import nothing_waits
from torchmagic.probes.sites import Site, is_users_file, place_of, site_of, source_of
from torchmagic.probes.taps import Taps
from torchmagic.records.crash import GradlessForwardRecord
from torchmagic.records.place import Place
from torchmagic.session.recorder import Recorder


class Gradless:
    """Records ``GradlessForwardRecord``, once, for a loss that a model computed without gradients.

    Such a backward raises, unless the loss was made to require a gradient by hand: then it reaches nothing. A step in
    which a model ran with gradients on as well tells nothing: that its loss has none is due to something else.

    Args:
        cast: The models.
    """

    flush = nothing_waits

    def __init__(self, cast: Cast) -> None:
        self._cast = cast
        self._taps: Taps | None = None
        self._recorder: Recorder | None = None
        self._without = NEVER  # the step of the latest forward without gradients
        self._site: Site | None = None
        self._told = False

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Listen for models, and for backward passes."""
        self._taps, self._recorder = taps, recorder
        taps.on("root_without", self._called)
        taps.on("backward_of_leaf", self._backward)

    def detach(self) -> None:
        """Let go of everything."""
        self._site = None

    def _called(self, module: Any, frame: Any) -> None:
        if self._taps is not None:
            self._without, self._site = self._taps.listeners.step, site_of(frame)

    def _backward(self, loss: torch.Tensor, frame: Any) -> None:
        """Look at a loss that no operation made, and that requires a gradient all the same."""
        if not loss.requires_grad or self._told or self._recorder is None:
            return
        record = self._record(place_of(site_of(frame)), crashed=False)
        if record is not None:
            self._told = True
            self._recorder.add(record)

    def crashed(self, entries: list[Entry]) -> GradlessForwardRecord | None:
        """Return why a backward found nothing that requires a gradient; None where that is not why."""
        theirs = users(entries)
        return self._record(theirs[-1].place if theirs else None, crashed=True, off_now=not torch.is_grad_enabled())

    def _record(self, backward: Place | None, *, crashed: bool, off_now: bool = False) -> GradlessForwardRecord | None:
        step = self._taps.listeners.step if self._taps is not None else 0
        model = self._cast.current
        if not self._trains():
            return None  # parameters that are frozen are another matter
        decorated = self._decorated()
        plain = self._without == step and self._cast.learned_at != step
        if not plain and decorated is None:
            return None
        how, switched = decorated or self._switch(off_now=off_now)
        return GradlessForwardRecord(
            step=step,
            model=model.name if model is not None else "",
            how=how or ("torch.set_grad_enabled(False)" if off_now else ""),
            switched=switched,
            forward=place_of(self._site) if plain else None,
            backward=backward,
            crashed=crashed,
        )

    def _trains(self) -> bool:
        model = self._cast.current
        module = model.ref() if model is not None else None
        return module is not None and _learns(module)

    def _switch(self, *, off_now: bool) -> tuple[str, Place | None]:
        """Return what is written around the line of the forward, or above it; else what still holds, of any cell."""
        if self._site is None:
            return "", None
        file = self._site.code.co_filename
        source = source_of(file)
        found = switches(source, self._site.line)
        if found is None:
            notebook = notebook_text(file)
            place = place_of(self._site)
            last = left_open(notebook.text, notebook.line_of(place)) if place is not None else None
            last = last or (last_switch(notebook.text) if off_now else None)
            return (last.how, notebook.place_at(last.line)) if last is not None else ("", None)
        return found.how, Place(file=file, line=found.line, source=line_at(source, found.line))

    def _decorated(self) -> tuple[str, Place | None] | None:
        """Return the decorator, or the block, that switches gradients off inside a ``forward`` of the user's."""
        for module in modules_of(self._cast):
            forward = getattr(type(module), "forward", None)
            inner = inspect.unwrap(forward) if forward is not None else None
            code = getattr(inner, "__code__", None)
            if code is None or not is_users_file(code.co_filename) or not _learns(module):
                continue
            source = source_of(code.co_filename)
            found = switches(source, code.co_firstlineno, function=code.co_name)
            if found is not None:
                text = line_at(source, found.line)
                return found.how, Place(file=code.co_filename, line=found.line, source=text, function=code.co_name)
        return None


def _learns(module: torch.nn.Module) -> bool:
    return any(each.requires_grad for each in parameters_of(module))
