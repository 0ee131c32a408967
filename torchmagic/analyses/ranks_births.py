"""This file is the ranks' first values that are not finite: on which of them they were born."""

import math
from dataclasses import dataclass

from torchmagic.records.nonfinite import Birth, NonfiniteRecord
from torchmagic.session.ranked import Ranks
from torchmagic.session.run import Run

# A gradient or weight that is not finite may have come from another rank; what is born before the exchange has not.
OWN = frozenset({Birth.INPUT, Birth.FORWARD})


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstBirth:
    """The first step at which values were not finite on some ranks and still finite, before the exchange, on others.

    Args:
        step: Optimizer steps made before.
        ranks: The ranks on which they were born.
        finite: Ranks whose loss was finite at that step.
        reached: Those of them on which values were not finite from then on, or from the step after.
        record: What was told of the origin, on the first of the ranks that tells it.
    """

    step: int
    ranks: tuple[int, ...]
    finite: tuple[int, ...]
    reached: tuple[int, ...]
    record: NonfiniteRecord | None


def first_birth(ranks: Ranks) -> FirstBirth | None:
    """Return the first step at which only some ranks had values that are not finite, or None."""
    own = {rank: step for rank, run in ranks.runs.items() if (step := _own_step(run)) is not None}
    if not own:
        return None
    step = min(own.values())
    born = tuple(rank for rank, first in own.items() if first == step)
    finite = tuple(rank for rank, run in ranks.runs.items() if rank not in born and _is_finite_at(run, step))
    if not finite:
        return None
    reached = tuple(rank for rank in finite if _any_step(ranks.runs[rank]) in (step, step + 1))
    told = (record for rank in born for record in ranks.runs[rank].of(NonfiniteRecord))
    record = next((each for each in told if each.step == step and each.birth in OWN), None)
    return FirstBirth(step=step, ranks=born, finite=finite, reached=reached, record=record)


def _own_step(run: Run) -> int | None:
    """Return the first step at which a loss, or what it was made of, was not finite."""
    steps = [record.step for record in run.of(NonfiniteRecord) if record.birth in OWN and record.evaluation is None]
    losses = [step for step, value in zip(*run.series("loss"), strict=True) if not math.isfinite(value)]
    return min([*steps, *losses[:1]], default=None)


def _any_step(run: Run) -> int | None:
    steps = [record.step for record in run.of(NonfiniteRecord) if record.evaluation is None]
    losses = [step for step, value in zip(*run.series("loss"), strict=True) if not math.isfinite(value)]
    return min([*steps, *losses[:1]], default=None)


def _is_finite_at(run: Run, step: int) -> bool:
    steps, losses = run.series("loss")
    return any(each == step and math.isfinite(loss) for each, loss in zip(steps, losses, strict=True))
