"""This file is the recorder: the only way into a run."""

import time
from collections.abc import Sequence

from torchmagic.session.run import Run


class Recorder:
    """Takes records and rows from the probes and puts them into the run.

    Nothing here touches a device or a file, and nothing raises for what a probe may hand over: lists grow by one
    append, which is atomic, so any thread may call.
    """

    __slots__ = ("_cost_ns", "_run", "_started_ns")

    def __init__(self, run: Run) -> None:
        self._run = run
        self._cost_ns = 0
        self._started_ns = time.perf_counter_ns()

    @property
    def step(self) -> int:
        """Optimizer steps made so far."""
        return self._run.steps

    @property
    def spent(self) -> int:
        """Nanoseconds spent inside torchmagic so far."""
        return self._cost_ns

    def add(self, record: object) -> None:
        """Keep a record."""
        self._run.records.append(record)

    def append(self, metric: str, values: Sequence[float], subjects: Sequence[str] = ("",)) -> None:
        """Keep one row of a metric at the present step: one value a subject."""
        self._run.frame(metric, subjects).append(self._run.steps, values)

    def count_step(self) -> None:
        """Close the present step, and bring the run's clock up to date."""
        self._run.steps += 1
        self.read_clock()

    def read_clock(self) -> None:
        """Bring the run's clock up to date."""
        clock = self._run.clock
        clock.cost = self._cost_ns / 1e9
        clock.seconds = (time.perf_counter_ns() - self._started_ns) / 1e9

    def spend(self, nanoseconds: int) -> None:
        """Book time spent inside torchmagic."""
        self._cost_ns += nanoseconds
