"""This file is the warm-ups: rates that rise to their base at first, and those that never come there."""

import ast
from dataclasses import dataclass

import numpy as np

from torchmagic.analyses.rates import Rate
from torchmagic.analyses.schedules import ScheduleRow
from torchmagic.analyses.syntax import tree_of

# A search for the limit grows by factors; what rises evenly, or as a cosine does, gains at most so much more later on.
MOST_LATER = 4.0
# Fewer values say nothing of a course.
MIN_VALUES = 2
WORD = "warm"


@dataclass(frozen=True, slots=True, kw_only=True)
class WarmUp:
    """A warm-up that lasts until the end.

    Args:
        share: Which part of its base the rate has reached with the last step.
        base: The base.
        length: Calls of the scheduler's step that it takes in all; None where nobody says so.
    """

    share: float
    base: float
    length: int | None


def lasting_warm_up(rate: Rate, row: ScheduleRow) -> WarmUp | None:
    """Return what is known of a rate that rises to its base from its first step to its last; None for any other.

    Args:
        rate: The rate.
        row: Its only schedule.
    """
    values, bases = rate.values, row.record.base_lr
    if len(rate.schedules) != 1 or not bases or bases[0] <= 0 or len(values) < MIN_VALUES or values[0] < 0:
        return None
    first, middle, last = values[0], values[len(values) // 2], values[-1]
    rises = bool((np.diff(values) >= 0).all()) and last > middle
    if not rises or last >= bases[0] or last - middle > MOST_LATER * (middle - first):
        return None
    return WarmUp(share=float(last) / bases[0], base=bases[0], length=_length(row))


def line_of_warm_up(source: str) -> int | None:
    """Return the only 1-based line of some source that gives a call how long to warm up; None without one."""
    calls = [node for node in ast.walk(tree_of(source)) if isinstance(node, ast.Call)]
    given = {each.value.lineno for node in calls for each in node.keywords if each.arg and WORD in each.arg}
    return given.pop() if len(given) == 1 else None


def _length(row: ScheduleRow) -> int | None:
    settings = row.record.settings
    if "num_warmup_steps" in settings:
        return int(settings["num_warmup_steps"])
    rising = settings.get("start_factor", 1.0) < settings.get("end_factor", 1.0)
    return int(settings["total_iters"]) if rising and "total_iters" in settings else None
