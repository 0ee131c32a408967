"""This file collects a profile: it puts torch's profiler around the steps that were asked for, as a probe of a run."""

import os
import sys
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from threading import get_ident
from types import FrameType
from typing import Any, Protocol

from torch import nn

from torchmagic.probes.listeners import NEVER
from torchmagic.probes.taps import Taps
from torchmagic.profiling.kineto import is_profiling
from torchmagic.profiling.loader_marks import LoaderMarks
from torchmagic.profiling.module_ranges import ModuleRanges
from torchmagic.profiling.notes import ALREADY, ELSEWHERE, FULL, INTERRUPTED, LOST, ONLY_WARMUP, REFUSED
from torchmagic.profiling.peak import peak_flops
from torchmagic.profiling.phases import Phases
from torchmagic.profiling.ranges import NOBODY, Ranges
from torchmagic.profiling.settings import ProfileSettings
from torchmagic.profiling.trace import write_traces
from torchmagic.profiling.window import Window
from torchmagic.records.note import NoteRecord
from torchmagic.records.place import Place
from torchmagic.session.recorder import Recorder

# What the taps see for a profile; modules first, which stay wrapped to the run's end where something was compiled.
WRAPPED = ("modules", "profilers", "workers")


class Lines(Protocol):
    """What a profile needs of the lines' ranges: ``profiling.lines.Lines``."""

    make_range: Callable[[str], AbstractContextManager[object]]
    places: list[Place]
    notes: list[str]

    def begin(self, namespace: Mapping[str, Any]) -> None:
        """Put ranges around the lines of the user's functions."""

    def end(self) -> None:
        """Take them out again; safe to call twice."""


class Profiling:
    """Profiles a run on a schedule of optimizer steps, or the whole of it where it makes none.

    The profiler records from the beginning, since nobody knows whether steps will come. Once they come, what it has
    noted down is thrown away at the beginning of the steps that were asked for; after them nothing of it is left in
    torch. All is read at the end, however that comes.

    Args:
        settings: What is profiled.
        namespace: The user's names.
        lines: The ranges of the user's lines, which get their ``make_range`` here; None for none.
        keep_source: Whether the text of the files that have lines is kept along.
        file_names: Tells, at the end, what to call files, such as ``this cell``; those without a name keep their own.
    """

    def __init__(
        self,
        settings: ProfileSettings,
        *,
        namespace: Mapping[str, Any],
        lines: Lines | None = None,
        keep_source: bool = True,
        file_names: Callable[[], Mapping[str, str]] = dict,
    ) -> None:
        self._settings, self._namespace, self._lines = settings, namespace, lines
        self._keep_source, self._file_names = keep_source, file_names
        self._ranges = Ranges(look=self._ask)
        self._modules = ModuleRanges(self._ranges, namespace)
        self._loaders = LoaderMarks(self._ranges, namespace)
        self._phases = Phases(self._ranges)
        self._taps: Taps | None = None
        self._recorder: Recorder | None = None
        self._window: Window | None = None
        self._over, self._process, self._num_compiled = True, os.getpid(), 0
        self._notes: list[str] = []

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Begin to record."""
        self._taps, self._recorder = taps, recorder
        if is_profiling():
            recorder.add(NoteRecord(text=ALREADY))
            return
        self._over, self._num_compiled = False, num_compiled()
        self._ranges.open()
        if self._lines is not None and self._settings.lines:
            self._lines.make_range = self._ranges.make
            self._lines.begin(self._namespace)
        self._phases.attach(taps)
        taps.on("module_met", self._meet)
        taps.on("profiler_begin", self._give_way)
        taps.on("batch", self._came)
        taps.on("root_end", self._look)
        taps.on("look", self._look)
        taps.on("worker_begin", self._stay_behind)
        taps.ranges = {}
        for what in WRAPPED:
            taps.see(what, seen=True)
        self._begin()

    def flush(self, step: int) -> None:
        """End a step, and do what the schedule says comes after it."""
        window = self._window
        if self._over or window is None or self._is_elsewhere():
            return
        window.end_step(step)
        self._look()
        done, settings = step + 1, self._settings
        active = settings.wait + settings.warming
        if self._over or done >= active + settings.active:
            self._finish()
        elif done in (settings.wait, active):
            window.begin(first_step=done)
        elif done < settings.wait:
            window.rest()

    def end_timing(self) -> None:
        """End the window where it goes on, as the code that is profiled is over; safe to call twice."""
        self._finish(self._ending())

    def detach(self) -> None:
        """Leave torch as it was found, and read what was noted down; safe to call twice."""
        self.end_timing()
        if self._lines is not None:
            self._lines.end()  # again, for functions that were made since the window ended
        taps, recorder, window = self._taps, self._recorder, self._window
        self._taps = self._recorder = self._window = None
        if taps is None or recorder is None:
            return
        if window is not None and window.recorded:
            for record in self._read(window, taps.warn):
                recorder.add(record)
        else:
            for note in self._notes:
                recorder.add(NoteRecord(text=note))

    def _begin(self) -> None:
        self._window = Window(self._settings, self._ranges, self._loaders)
        try:
            self._window.start()
        except RuntimeError as error:
            self._window = None
            self._finish(note=REFUSED.format(str(error).partition("\n")[0]))

    def _finish(self, cut: str = "", *, note: str = "") -> None:
        """Take everything out of torch; from here on the run goes on as if it were not profiled."""
        if self._over:
            return
        self._over = True
        if note:
            self._notes.append(note)
        if self._window is not None:
            self._window.stop(cut)
            if not self._window.recorded:
                self._notes.append(LOST)
        self._ranges.shut()
        if self._lines is not None:
            self._lines.end()
        if self._taps is not None:
            for what in WRAPPED[num_compiled() != self._num_compiled :]:  # compiled code would be compiled anew
                self._taps.see(what, seen=False)
            self._taps.ranges = None
            self._taps.listeners.drop(self)
            self._taps.rest(self, until=NEVER)

    def _ending(self) -> str:
        """Return why the window ends before all its steps were made, as the run ends."""
        error = self._taps.ended_by if self._taps is not None else None
        if error is not None:
            return "interrupted" if issubclass(error, KeyboardInterrupt) else "error"
        return "ended" if self._recorder is not None and self._recorder.step else ""

    def _look(self, *_: object) -> None:
        """End the stretch where it has become too much."""
        window = self._window
        if window is None or not window.is_full or self._is_elsewhere():
            return
        stretch = window.stretches[-1]
        stretch.cut = "full"
        self._notes.append(FULL.format(window.seconds))
        if stretch.first_step < self._settings.wait + self._settings.warming:
            window.rest()  # what is to be profiled may still come
        else:
            self._finish("full")

    def _read(self, window: Window, warn: Callable[[str], None]) -> list[object]:
        """Return the records of a profile; warn of a file that could not be written."""
        from torchmagic.profiling.attribute import attribute  # noqa: PLC0415 - for runs that were profiled

        settings, chosen = self._settings, window.chosen
        warm = chosen.first_step == settings.wait + settings.warming
        if chosen.num_steps and not warm:
            self._notes.append(ONLY_WARMUP.format(chosen.num_steps))
        facts = {
            "waited": settings.wait if warm else 0,
            "warmed": settings.warming if warm else 0,
            "modules": self._modules.sites,
            "places": list(self._lines.places) if self._lines is not None else [],
            "peak_flops": peak_flops(window.kineto.device) if settings.flops else None,
        }
        collected = window.collected(facts)
        collected.trace, said = write_traces(window.kineto.profile, settings, collected, warn=warn)
        collected.notes = [*self._notes, *(self._lines.notes if self._lines is not None else ()), *said]
        return list(attribute(collected, keep_source=self._keep_source, file_names=self._file_names()))

    def _ask(self) -> None:
        """Look, behind the taps' wall: this comes from within ranges, in the user's code, and in forked workers too."""
        if self._taps is not None and os.getpid() == self._process:
            self._taps.emit("look")

    def _is_elsewhere(self) -> bool:
        """Whether this is another thread than the one that is profiled; a profiler sees its own thread only."""
        if self._ranges.thread == get_ident():
            return False
        if ELSEWHERE not in self._notes:
            self._notes.append(ELSEWHERE)
        return True

    # What the taps tell.

    def _meet(self, module: nn.Module, frame: FrameType) -> None:
        if self._taps is not None and not self._is_elsewhere():
            self._modules.meet(self._taps, module, frame)

    def _came(self, iterator: Any, *_: object) -> None:
        if not self._is_elsewhere():
            self._loaders.came(iterator)
            self._look()

    def _give_way(self, _: object) -> None:
        if not self._is_elsewhere():
            self._finish("ended", note=INTERRUPTED)

    def _stay_behind(self) -> None:
        """Note down nothing more here: this is a worker's process, and the profile is its parent's."""
        self._ranges.thread, self._ranges.recording = NOBODY, False
        self._over = True
        if self._window is not None:
            self._window.kineto.rest(rests=True)


def num_compiled() -> int:
    """Return how many graphs the compiler has made in this process."""
    compiler = sys.modules.get("torch._dynamo.utils")
    return int(compiler.counters["stats"]["unique_graphs"]) if compiler is not None else 0
