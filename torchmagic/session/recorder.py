"""This file is the recorder: the only way into a run."""

import time
from collections.abc import Callable, Mapping, Sequence

from torchmagic.records.series import Frame
from torchmagic.session.run import Run

# The run's clock is read no more often than this (ns).
BETWEEN_READINGS = 10_000_000
WHOLE = ("",)


class Recorder:
    """Takes records and rows from the probes and puts them into the run.

    Nothing here touches a device or a file, and nothing raises for what a probe may hand over: lists grow by one
    append, which is atomic, so any thread may call.

    Args:
        run: The run.
        metered: Tells the nanoseconds spent inside torchmagic so far.

    Attributes:
        newest: What the newest row of each metric went to; ``append`` finds it there, or makes it.
    """

    __slots__ = ("_metered", "_read_ns", "_run", "_started_ns", "newest")

    def __init__(self, run: Run, *, metered: Callable[[], int] = int) -> None:
        self._run, self._metered = run, metered
        self.newest: Mapping[str, Frame] = run.newest
        self._started_ns = self._read_ns = time.perf_counter_ns()

    def set_back(self, nanoseconds: int) -> None:
        """Let the run's time begin so much later, or, below zero, so much earlier."""
        self._started_ns += nanoseconds

    @property
    def step(self) -> int:
        """Optimizer steps made so far."""
        return self._run.steps

    @property
    def spent(self) -> int:
        """Nanoseconds spent inside torchmagic so far."""
        return self._metered()

    def add(self, record: object) -> None:
        """Keep a record."""
        self._run.records.append(record)

    def keep_texts(self, gather: Callable[[Run], dict[str, str]], *, name: Callable[[str], str]) -> None:
        """Give the run the texts of other cells and files.

        Args:
            gather: Reads the run's records, and returns texts by file.
            name: Tells what to call a file.
        """
        self._run.texts = gather(self._run)
        self._run.file_names = {file: name(file) for file in self._run.texts}

    def name_files(self, names: Mapping[str, str]) -> None:
        """Say what to call files whose texts the run has; others are left out."""
        self._run.file_names.update({file: name for file, name in names.items() if file in self._run.texts})

    def append(self, metric: str, values: Sequence[float], subjects: Sequence[str] = WHOLE) -> None:
        """Keep one row of a metric at the present step: one value a subject."""
        run = self._run
        frame = run.newest.get(metric)
        if frame is None or (frame.subjects is not subjects and frame.subjects != subjects):
            frame, values = run.room_for(metric, subjects, values)
        frame.append(run.steps, values)

    def count_step(self) -> None:
        """Close the present step, and now and then bring the run's clock up to date."""
        self._run.steps += 1
        if time.perf_counter_ns() - self._read_ns > BETWEEN_READINGS:
            self.read_clock()

    def read_clock(self) -> None:
        """Bring the run's clock up to date."""
        clock, self._read_ns = self._run.clock, time.perf_counter_ns()
        clock.cost = self.spent / 1e9
        clock.seconds = (self._read_ns - self._started_ns) / 1e9
