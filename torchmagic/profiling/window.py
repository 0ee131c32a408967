"""This file is the recording of a run by torch's profiler, in stretches of steps, of which one becomes the profile."""

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import psutil
import torch

from torchmagic.profiling.collected import LINE, MODULE, STEP, Collected, LoaderSite
from torchmagic.profiling.kineto import Kineto
from torchmagic.profiling.loader_marks import LoaderMarks
from torchmagic.profiling.ranges import Ranges
from torchmagic.profiling.recording import BEGIN, END
from torchmagic.profiling.segments import memory_segments
from torchmagic.profiling.settings import ProfileSettings
from torchmagic.records.accelerator import MemorySegments

# What a recording may make the process grow by: half a million to a million events; and how long it may last where the
# code makes no steps (s).
MOST_GROWTH = 3 << 29
MOST_SECONDS = 300.0
BETWEEN_LOOKS = 50_000_000  # at either (ns)


@dataclass(kw_only=True)
class Stretch:
    """Some steps in a row.

    Args:
        first_step: Optimizer steps made before it.
        began: When it began (ns).
        processor: Processor time of the thread by then (ns).
        num_steps: Optimizer steps that ended in it.
        processor_ends: Processor time since ``began``, at the end of each and at its own end (ns).
        silent: Lines that ran too often, with their counts.
        silent_modules: Likewise of modules.
        loaders: The loaders by then.
        cut: Why it ended early; empty where it did not.
    """

    first_step: int
    began: int
    processor: int
    num_steps: int = 0
    processor_ends: list[int] = field(default_factory=list)
    silent: dict[int, int] = field(default_factory=dict)
    silent_modules: dict[int, int] = field(default_factory=dict)
    loaders: list[LoaderSite] = field(default_factory=list)
    cut: str = ""


class Window:
    """The recording of a run.

    Args:
        settings: What is noted down.
        ranges: All ranges.
        loaders: The loaders' marks.

    Attributes:
        kineto: What the profiler noted down.
        recorded: Whether it kept that.
        stretches: The stretches so far.
        rests: Whether nothing is being noted down at present.
    """

    def __init__(self, settings: ProfileSettings, ranges: Ranges, loaders: LoaderMarks) -> None:
        self.kineto = Kineto(settings)
        self.recorded = False
        self.stretches: list[Stretch] = []
        self.rests = True
        self._settings, self._ranges, self._loaders = settings, ranges, loaders
        self._resident = self._looked = 0
        self._memory: MemorySegments | None = None

    def start(self) -> None:
        """Begin to record.

        Raises:
            RuntimeError: If torch's profiler refuses.
        """
        self.kineto.start()
        self._record()
        self.begin(first_step=0)

    def begin(self, *, first_step: int) -> None:
        """Begin a stretch."""
        if self.rests:
            self.kineto.rest(rests=False)
            self._record()
        else:
            self._close()
        self._ranges.count_anew()
        self._loaders.begin()
        self._resident, self._looked = _resident(), time.perf_counter_ns()
        self._ranges.mark(f"{BEGIN}{len(self.stretches)}")
        began, processor = time.perf_counter_ns(), time.thread_time_ns()
        self.stretches.append(Stretch(first_step=first_step, began=began, processor=processor))

    def end_step(self, step: int) -> None:
        """Note down the end of an optimizer step."""
        if not self.rests:
            stretch = self.stretches[-1]
            stretch.processor_ends.append(time.thread_time_ns() - stretch.processor)
            stretch.num_steps += 1
            self._ranges.mark(f"{STEP}{step}")

    def rest(self) -> None:
        """Note down nothing until the next stretch begins."""
        if not self.rests:
            self._close()
            self._ranges.pause()
            self.kineto.rest(rests=True)
            self.rests = True

    def stop(self, cut: str) -> None:
        """End the recording.

        Args:
            cut: Why it ends early; empty where it does not.
        """
        try:
            if not self.rests:
                self._close()
                self._ranges.pause()
                self.rests = True
            self.chosen.cut = self.chosen.cut or cut
            self._memory = memory_segments(self.kineto.device) if self._settings.memory else None
        finally:  # whatever fails here, the profiler does not stay on
            self.recorded = self.kineto.stop()

    @property
    def chosen(self) -> Stretch:
        """The stretch that becomes the profile: the last one in which a step ended, or the first."""
        return next((each for each in reversed(self.stretches) if each.num_steps), self.stretches[0])

    @property
    def seconds(self) -> float:
        """Seconds since the newest stretch began."""
        return (time.perf_counter_ns() - self.stretches[-1].began) / 1e9

    @property
    def is_full(self) -> bool:
        """Whether the newest stretch has become more than can be kept."""
        present = time.perf_counter_ns()
        if self.rests or present - self._looked < BETWEEN_LOOKS:
            return False
        self._looked = present
        if not self.stretches[-1].num_steps and self.seconds > MOST_SECONDS:
            return True
        return _resident() - self._resident > MOST_GROWTH

    def collected(self, facts: Mapping[str, Any]) -> Collected:
        """Return what was collected.

        Args:
            facts: Fields of ``Collected`` that the recording does not know.
        """
        stretch = self.chosen
        number = self.stretches.index(stretch)
        marks = self.kineto.marks()
        begin = next(each for each in marks if each.name == f"{BEGIN}{number}")
        end = next((each.start for each in marks if each.name == f"{END}{number}"), marks[-1].end)
        steps = (each.start for each in marks if each.name.startswith(STEP))
        made = Collected(
            events=self.kineto.events(begin.end, end),
            begin=begin.end,
            end=end,
            step_ends=[each for each in steps if begin.end <= each <= end],
            processor_ends=stretch.processor_ends,
            thread=begin.thread,
            first_step=stretch.first_step,
            silent=stretch.silent,
            silent_modules=stretch.silent_modules,
            loaders=stretch.loaders,
            options=self._settings.options,
            cut=stretch.cut,
            device=self.kineto.device,
            memory=self._memory,
            threads=torch.get_num_threads(),
            cores=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
        )
        return replace(made, **facts)

    def _record(self) -> None:
        self._ranges.record()
        self.rests = False

    def _close(self) -> None:
        """End the newest stretch."""
        stretch = self.stretches[-1] if self.stretches else None
        if stretch is not None:
            stretch.processor_ends.append(time.thread_time_ns() - stretch.processor)
            self._ranges.mark(f"{END}{len(self.stretches) - 1}")
            stretch.silent, stretch.silent_modules = self._ranges.too_many(LINE), self._ranges.too_many(MODULE)
            stretch.loaders = self._loaders.sites(self.seconds)


def _resident() -> int:
    return int(psutil.Process().memory_info().rss)
