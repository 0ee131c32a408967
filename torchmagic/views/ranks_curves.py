"""This file is the curves of ranks over the steps: how long their steps took, and how long they waited."""

import numpy as np
from numpy.typing import NDArray

from torchmagic.analyses.ranks_courses import Courses, phases_of, step_seconds
from torchmagic.analyses.ranks_waits import Waits
from torchmagic.session.ranked import Ranks
from torchmagic.views.page import Block, Line, Plot

# So many ranks have a curve each; of more, the least, the median and the greatest, and a few that stand out.
MOST_CURVES, MOST_FAR = 6, 3
MOST_POINTS = 200
# Steps that build buckets and connections: beside them all others look alike.
FIRST, MIN_STEPS = 1, 5
MILLISECONDS = 1e3


def rank_plots(ranks: Ranks, found: Waits | None, far: list[int]) -> list[Block]:
    """Return the plots; none where times were not measured.

    Args:
        ranks: The ranks.
        found: How long they waited for each other, where that is known.
        far: Those that stand out, the most outstanding first.
    """
    plots: list[Block] = []
    took = step_seconds(phases_of(ranks) if found is None else found.phases)
    if len(took):
        first = FIRST if len(took) > MIN_STEPS else 0
        plots.append(_plot("time per step by rank, ms", took.without(first), far))
    if found is not None:
        plots.append(
            _plot(
                "waiting for other ranks, ms" if not found.is_estimated else "estimated waiting for other ranks, ms",
                found.waited,
                far,
            )
        )
    return plots


def _plot(title: str, courses: Courses, far: list[int]) -> Plot:
    steps, values = _shortened(courses)
    rows = dict(zip(courses.ranks, values, strict=True))
    if len(rows) > MOST_CURVES:
        shown = [(f"rank {rank}", rows[rank]) for rank in far if rank in rows][:MOST_FAR]
        ends = (("least", values.min(axis=0)), ("median", np.median(values, axis=0)), ("most", values.max(axis=0)))
        shown = [*ends, *shown]
    else:
        shown = [(f"rank {rank}", row) for rank, row in rows.items()]
    lines = [Line(name=name, steps=steps, values=(row * MILLISECONDS).tolist()) for name, row in shown]
    return Plot(title=title, lines=lines, y_label="ms")


def _shortened(courses: Courses) -> tuple[list[float], NDArray[np.float64]]:
    """Return the slowest step of each stretch: a pause is what is looked for."""
    starts = np.unique(np.linspace(0, len(courses), MOST_POINTS, endpoint=False).astype(int))
    return courses.steps[starts].tolist(), np.maximum.reduceat(courses.values, starts, axis=1)
