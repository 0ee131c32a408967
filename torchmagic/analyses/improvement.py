"""This file is the improvement: how far a run's loss came down from its beginning to its end."""

import itertools
import math
import statistics

from torchmagic.analyses.breakdown import sound_part
from torchmagic.records.evaluation import EvaluationRecord
from torchmagic.records.objective import GroupRecord
from torchmagic.session.run import Run

# The ends are averaged over this share of the steps, and so many where there are: one batch may be a lucky one.
SHARE_OF_STEPS, FEW_STEPS = 0.1, 8
# Passes that may be lower one after the other by chance are fewer.
FEW_PASSES = 4
# Standard deviation of a normal distribution over the median of its magnitudes.
DEVIATION = 1.4826


def noise_of_improvement(run: Run, *, after: int = 0) -> float:
    """Return the standard error of what ``improvement`` says, from the differences of neighbouring losses."""
    known = _known(run, after)
    few = _width(len(known))
    level = abs(sum(known[:few]) / few)
    if len(known) < FEW_STEPS or not level:
        return 0.0
    typical = statistics.median(abs(after - before) for before, after in itertools.pairwise(known))
    return DEVIATION * typical / math.sqrt(few) / level


def last_phase(run: Run) -> int:
    """Return the step at which the newest optimizer came: before it something else may have been trained."""
    return max((group.step for group in run.of(GroupRecord)), default=0)


def improvement(run: Run, *, since: float = 0.0, after: int = 0) -> float:
    """Return by which share of its first value the loss has fallen; NaN where no loss is known.

    Args:
        run: A run.
        since: The share of the steps that are left out at the beginning.
        after: The step before which all are left out.
    """
    known = _known(run, after)
    values = known[int(len(known) * since) :]
    if not values:
        return math.nan
    few = _width(len(values))
    first, last = sum(values[:few]) / few, sum(values[-few:]) / few
    return (first - last) / abs(first) if first else 0.0


def _known(run: Run, after: int) -> list[float]:
    """Return the losses from a step on, as far as they are finite and the run had not broken down."""
    steps, losses = sound_part(run, *run.series("loss"))
    return [loss for step, loss in zip(steps, losses, strict=True) if step >= after and math.isfinite(loss)]


def evaluation_falls(run: Run) -> bool:
    """Whether a loss on data that is only evaluated is lower at each pass: what is learned holds for it too."""
    seen = {name for each in run.of(EvaluationRecord) if not each.trained_on for name in each.loss_names}
    courses = [run.series("eval_loss", name=name)[1] for name in run.subjects("eval_loss") if name in seen]
    return any(
        len(course) >= FEW_PASSES and all(after < before for before, after in itertools.pairwise(course))
        for course in courses
    )


def _width(count: int) -> int:
    return max(1, round(count * SHARE_OF_STEPS), min(FEW_STEPS, count // 2))
