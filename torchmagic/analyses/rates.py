"""This file is the rates: each learning rate over the steps of its optimizer, and the schedule that made it so."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from torchmagic.records.objective import GroupRecord
from torchmagic.records.schedule import ScheduleRecord
from torchmagic.session.run import Run

# A rate below this moves no float32 weight.
ZERO = 1e-12
# A rate that ends as high as it ever was, and this many times its beginning, looks for its own limit.
RANGE_TEST = 30.0
# A warm-up that has passed its base by this factor, and still rises, was to end there.
PASSED = 3.0
# Against its peak, a rate this small is gone.
VANISHED = 1e-3


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """The learning rate of one group, from its optimizer's first step in the run to its last.

    Args:
        group: The group.
        values: The rate at each step of the run in that stretch; at its end also the one that a next step would have.
        num_steps: Steps of the run in that stretch.
        schedules: Schedulers on an optimizer of that name.
    """

    group: GroupRecord
    values: NDArray[np.float64]
    num_steps: int
    schedules: tuple[ScheduleRecord, ...]


def rates(run: Run) -> list[Rate]:
    """Return the rate of each group that has one.

    Optimizers of one name follow each other, as those of folds do; each has a stretch of its own. The steps of others
    that alternate with it count too.
    """
    groups = [group for group in run.of(GroupRecord) if group.lr is not None]
    return [found for group in groups if (found := _rate(run, group, groups)) is not None]


def vanished_rate(run: Run) -> bool:
    """Whether a rate stayed near zero, against its peak, through the whole second half of its steps."""
    return any(
        float(abs(each.values[len(each.values) // 2 :]).max()) < VANISHED * float(each.values.max())
        for each in rates(run)
    )


def searches_rate(run: Run) -> bool:
    """Whether a run tries several rates on purpose: a sweep, or a rate that rises until the loss breaks."""
    tried: dict[str, set[float | None]] = {}
    for group in run.of(GroupRecord):
        tried.setdefault(group.subject, set()).add(group.lr)
    if any(len(found) > 1 for found in tried.values()):
        return True
    return any(
        len(each.values) > 1 and each.values[-1] >= each.values.max() > RANGE_TEST * max(float(each.values[0]), 0.0)
        for each in rates(run)
    )


def endless_warm_up(rate: Rate) -> float:
    """Return how many times its base a rate reaches that a function of the step raises to it and ever on; else 0.

    A search for the limit begins at its base, and a warm-up ends there.
    """
    bases = [each.base_lr[0] for each in rate.schedules if each.class_name == "LambdaLR" and any(each.base_lr)]
    values = rate.values
    if len(rate.schedules) != 1 or len(bases) != 1 or len(set(rate.schedules[0].base_lr)) != 1:
        return 0.0
    rises = bool((np.diff(values) >= 0).all()) and float(values[-1]) > float(values[len(values) // 2])
    return float(values[-1]) / bases[0] if rises and 0 <= values[0] < bases[0] < values[-1] / PASSED else 0.0


def _rate(run: Run, group: GroupRecord, groups: Iterable[GroupRecord]) -> Rate | None:
    later = (each.step for each in groups if each.subject == group.subject and each.step > group.step)
    end = min(later, default=run.steps + 1)
    steps, values = run.series("lr", name=group.subject)
    points = [(step, value) for step, value in zip(steps, values, strict=True) if group.step <= step < end]
    if not points:
        return None
    last = points[-1][0]
    course = np.empty(last - group.step + 1)
    for (step, value), after in zip(points, [*(step for step, _ in points[1:]), last + 1], strict=True):
        course[step - group.step : after - group.step] = value
    schedules = tuple(
        each
        for each in run.of(ScheduleRecord)
        if each.optimizer in (group.optimizer, group.class_name)
        and (each.step is None or group.step <= each.step <= end)
    )
    num_steps = max(min(last + 1, run.steps), group.step + 1) - group.step
    return Rate(group=group, values=course, num_steps=num_steps, schedules=schedules)
