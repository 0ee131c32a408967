"""This file is the view of a run's time: where its seconds went, and how long its steps took."""

import numpy as np

from torchmagic.analyses.time_split import PHASES, time_split
from torchmagic.session.run import Run
from torchmagic.views.numbers import as_seconds, as_share
from torchmagic.views.page import Block, Facts, Line, Page, Plot, Shares
from torchmagic.views.progress import WORDS, progress_page

MILLISECONDS = 1e3
MOST_POINTS = 200


def time_page(run: Run) -> Page:
    """Return the split of the wall time, the time of the steps, and, while the run goes on, its progress."""
    blocks: list[Block] = list(progress_page(run).blocks)
    parts = [(WORDS.get(name, name), seconds) for name, seconds in time_split(run).items() if seconds]
    if any(seconds for _, seconds in parts):
        blocks.append(Shares(title="Where the time went", parts=parts, unit="s"))
    steps, seconds = _steps(run)
    if len(seconds):
        blocks += [_plot(steps, seconds), Facts(rows=_facts(run, seconds))]
    return Page(title="Time", blocks=blocks)


def _steps(run: Run) -> tuple[np.ndarray, np.ndarray]:
    """Return the steps that were timed and the seconds that each took; what came after the last one is no step."""
    columns = [run.series("seconds", name=phase) for phase in PHASES]
    length = min(len(steps) for steps, _ in columns)
    steps, seconds = np.asarray(columns[0][0][:length]), np.sum([values[:length] for _, values in columns], axis=0)
    return steps[steps < run.steps], seconds[steps < run.steps]


def _facts(run: Run, seconds: np.ndarray) -> list[tuple[str, str]]:
    middle, slowest = float(np.median(seconds)), float(seconds.max())
    rows = [("time per step, median", as_seconds(middle)), ("slowest step", as_seconds(slowest))]
    if run.clock.seconds:
        rows.append(("cost of watching", f"{as_seconds(run.clock.cost)} ({as_share(run.overhead)})"))
    return rows


def _plot(steps: np.ndarray, seconds: np.ndarray) -> Plot:
    """Draw the slowest step of each stretch: a pause is what is looked for."""
    starts = np.unique(np.linspace(0, len(steps), MOST_POINTS, endpoint=False).astype(int))
    slowest = np.maximum.reduceat(seconds, starts) * MILLISECONDS
    line = Line(name="slowest", steps=steps[starts].tolist(), values=slowest.tolist())
    return Plot(title="time per step, ms", lines=[line], y_label="ms")
