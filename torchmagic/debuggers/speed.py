"""This file is the speed: how long a run's steps take lately, where that time goes, and when the pass will end."""

from collections import deque
from statistics import median
from typing import NamedTuple

from torchmagic.analyses.time_split import PHASES
from torchmagic.probes.passes import Passes, Standing
from torchmagic.session.progress import Progress
from torchmagic.session.run import Run

# Seconds between two looks, and how many looks "lately" is. The median leaves out an evaluation in between.
SECONDS_BETWEEN_LOOKS = 0.2
LATELY = 25


class _Look(NamedTuple):
    seconds: float
    steps: int
    cost: float
    standing: Standing | None


class Speed:
    """Keeps ``run.progress`` up to date.

    Args:
        run: The run.
        passes: Tells how far the pass is that feeds the training.
    """

    def __init__(self, run: Run, passes: Passes) -> None:
        self._run, self._passes = run, passes
        self._before = _Look(0.0, 0, 0.0, None)
        self._step_times: deque[float] = deque(maxlen=LATELY)
        self._batch_times: deque[float] = deque(maxlen=LATELY)
        self._splits: deque[tuple[float, ...]] = deque(maxlen=LATELY)
        self._costs: deque[float] = deque(maxlen=LATELY)

    def look(self) -> None:
        """Take in where the run stands; to be called at the end of a step."""
        run, before = self._run, self._before
        now = _Look(run.clock.seconds, run.steps, run.clock.cost, self._passes.look(run.steps))
        took, steps = now.seconds - before.seconds, now.steps - before.steps
        if took > 0 and steps > 0 and before.steps:  # what came before the first look was no step's
            self._step_times.append(took / steps)
            self._costs.append(min(1.0, max(0.0, now.cost - before.cost) / took))
            self._take_batches(now.standing, before.standing, took)
        self._take_split()
        self._before = now
        run.progress = self._progress(now.standing)

    def _take_batches(self, now: Standing | None, before: Standing | None, took: float) -> None:
        if now is not None and before is not None and now.epoch == before.epoch and now.batch > before.batch:
            self._batch_times.append(took / (now.batch - before.batch))

    def _take_split(self) -> None:
        """Take the newest step for those since the last look."""
        frame = self._run.newest.get("seconds")
        row = frame.last() if frame is not None and frame.subjects == PHASES else None
        if row is not None and sum(row[1]) > 0:
            self._splits.append(tuple(row[1]))

    def _progress(self, standing: Standing | None) -> Progress:
        left = None
        if standing is not None and standing.batches is not None and self._batch_times:
            left = (standing.batches - standing.batch) * median(self._batch_times)
        return Progress(
            batch=standing.batch if standing else 0,
            batches=standing.batches if standing else None,
            epoch=standing.epoch if standing else 0,
            seconds_per_step=median(self._step_times) if self._step_times else None,
            seconds_left=left,
            shares=self._shares(),
        )

    def _shares(self) -> dict[str, float]:
        if not self._splits or not self._costs:
            return {}
        ours = sum(self._costs) / len(self._costs)
        totals = [sum(column) for column in zip(*self._splits, strict=True)]
        shares = {name: total / sum(totals) * (1 - ours) for name, total in zip(PHASES, totals, strict=True)}
        return {**shares, "torchmagic": ours}
