"""This file is the results of a run: the few numbers that say what it reached and what that took."""

import math
from collections.abc import Iterator

from torchmagic.analyses.early_stopping import early_stopping
from torchmagic.analyses.memory_use import memory_use
from torchmagic.session.run import Run

Result = tuple[str, float, str]


def results(run: Run) -> list[Result]:
    """Return the name, the value and the unit (``s``, ``B``, ``%`` or nothing) of each number that is known.

    A loss that was not finite at the end is NaN; the best is the least finite one.
    """
    return list(_results(run))


def _results(run: Run) -> Iterator[Result]:
    yield "steps", run.steps, ""
    yield "time", run.clock.seconds, "s"
    if run.steps and run.clock.seconds:
        yield "time per step", (run.clock.seconds - run.clock.cost) / run.steps, "s"
    for number, name in enumerate(run.subjects("loss")):
        values = run.series("loss", name=name)[1]
        of = "" if number == 0 else f" {number + 1}"
        if values:
            yield f"last loss{of}", values[-1], ""
            yield f"best loss{of}", min((value for value in values if math.isfinite(value)), default=math.nan), ""
    for number, curve in enumerate(early_stopping(run)):
        of = "" if number == 0 else f" {number + 1}"
        yield f"last evaluation loss{of}", curve.last, ""
        yield f"best evaluation loss{of}", curve.best, ""
    yield from _memory(run)
    if run.clock.seconds:
        yield "cost of watching", run.overhead, "%"


def _memory(run: Run) -> Iterator[Result]:
    use = memory_use(run)
    if use is not None:
        yield "memory of the model, peak", sum(use.peak.values()), "B"
    for metric, name in (("rss_bytes", "memory of the process, peak"), ("cuda_peak_bytes", "CUDA memory, peak")):
        values = run.series(metric)[1]
        if values:
            yield name, max(values), "B"
