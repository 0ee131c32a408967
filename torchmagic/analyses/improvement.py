"""This file is the improvement: how far a run's loss came down from its beginning to its end."""

import math

from torchmagic.analyses.breakdown import sound_part
from torchmagic.session.run import Run

# The ends are averaged over this share of the steps, and so many where there are: one batch may be a lucky one.
SHARE_OF_STEPS, FEW_STEPS = 0.1, 8


def improvement(run: Run, *, since: float = 0.0) -> float:
    """Return by which share of its first value the loss has fallen; NaN where no loss is known.

    Args:
        run: A run.
        since: The share of the steps that are left out at the beginning.
    """
    _, losses = sound_part(run, *run.series("loss"))
    known = [loss for loss in losses if math.isfinite(loss)]
    values = known[int(len(known) * since) :]
    if not values:
        return math.nan
    few = max(1, round(len(values) * SHARE_OF_STEPS), min(FEW_STEPS, len(values) // 2))
    first, last = sum(values[:few]) / few, sum(values[-few:]) / few
    return (first - last) / abs(first) if first else 0.0
