"""The learning rate is so high that the loss does not come down.

*Symptom*: the loss rises, swings, or becomes NaN within a few steps, while single steps move the weights by a large
part of their size.

*Why it happens*: a rate meant for another optimizer (0.1 and 1.0 are rates of SGD, not of Adam), another batch size, or
a loss summed instead of averaged; a warm-up whose factor is not held at 1.

*What to try*: divide the learning rate by ten until the loss falls from the first steps on; warm it up over some
hundred steps; clip gradients.

*Source*: Zhang et al., AUTOTRAINER, ICSE 2021 (oscillating loss); Humbatova et al., ICSE 2020 (suboptimal learning
rate).
"""

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from statistics import median

import numpy as np
from numpy.typing import NDArray

from torchmagic.analyses.loss_curve import LossCurve, loss_curve
from torchmagic.analyses.objective import single_objective
from torchmagic.analyses.optimizer_lines import built_with, place_of_setting
from torchmagic.analyses.rates import PASSED, Rate, endless_warm_up, rates, searches_rate
from torchmagic.analyses.relative_updates import GroupUpdates, group_updates
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.nonfinite import Birth, Cause, NonfiniteRecord
from torchmagic.records.objective import GroupRecord
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run

# Update over weights, in the median after the first steps or in a single step (catalogue).
MAX_RATIO = 0.1
MAX_JUMP = 1.0
FROM_STEP = 10
# A jump counts in this share of the run.
EARLY = 0.25
# Fewer losses say nothing of a course; of a run that breaks they need not be many.
MIN_LOSSES = 15
# Where gradients have grown by this factor, steps are large because of them, and not because of the rate.
GROWN = 100.0
# The norm from which on the gradients themselves are out of proportion, as in ``exploding_gradient``.
EXPLODING = 1e3
# Operators that break in a stable model too: these are to be written in another form, whatever the rate is. Where the
# loss had risen by this factor before, the rate had done its harm already.
FRAGILE = frozenset({
    Cause.LOG_OF_ZERO, Cause.LOG_OF_NEGATIVE, Cause.ZERO_OVER_ZERO, Cause.DIVISION_BY_ZERO, Cause.EXP_OVERFLOW,
    Cause.SQRT_OF_NEGATIVE, Cause.NORM_AT_ZERO, Cause.MASKED_ROW, Cause.SINGLE_ELEMENT, Cause.OUT_OF_DOMAIN,
    Cause.EMPTY_REDUCTION, Cause.NO_TARGETS, Cause.BAD_CONSTANT, Cause.HALF_OVERFLOW,
})  # fmt: skip
RISEN = 1.5


@rule
def lr_too_high(run: Run, *, max_ratio: float = MAX_RATIO, max_jump: float = MAX_JUMP) -> Iterator[Finding]:
    """Report a warm-up that never ends, and an optimizer whose steps are large from the beginning.

    Of the latter the loss must rise, swing or break.
    """
    for rate in rates(run):
        times = endless_warm_up(rate)
        if times and len(rate.values) >= MIN_LOSSES:
            yield _endless(rate, times)
            return
    objective = single_objective(run)
    if objective is None or len(objective.losses) > 1 or objective.sign != 1 or searches_rate(run):
        return
    trouble = _trouble(run, objective.losses[0])
    if trouble is None:
        return
    for each in group_updates(run):
        steps, ratios = _before_growth(run, each)
        late, early = ratios[steps >= each.group.step + FROM_STEP], ratios[steps <= each.group.step + _early(run)]
        usual, jump = float(np.median(late)) if len(late) else 0.0, float(early.max(initial=0.0))
        if each.from_zero or (usual <= max_ratio and jump <= max_jump):
            continue
        yield _finding(run, each.group, (trouble, usual, jump), (max_ratio, max_jump))
        return


def _peak(run: Run, group: GroupRecord) -> float:
    """Return a group's rate, or, where a warm-up begins at zero, the highest that it reached."""
    return group.lr or max((float(each.values.max()) for each in rates(run) if each.group == group), default=math.nan)


def _finding(run: Run, group: GroupRecord, seen: tuple[str, float, float], limits: tuple[float, float]) -> Finding:
    rate, (trouble, usual, jump) = _peak(run, group), seen
    return Finding(
        rule="lr-too-high",
        severity=Severity.WARNING,
        confidence=0.85,
        title=f"the loss {trouble}; a step at rate {rate:g} moves weights by {_times(max(jump, usual))} their size",
        optimizer=group.optimizer,
        **line_of(place_of_setting(run, group, "lr")),
        step=group.step,
        evidence={
            "learning rate": rate,
            "median update over weights": usual,
            "threshold of the median": limits[0],
            "largest update over weights": jump,
            "threshold of one step": limits[1],
            "loss": trouble,
        },
        why="Each step overshoots: the next gradient belongs to other weights, far from where the last one pointed.",
        fix=f"{built_with(run, group, 'lr', rate / 100)}  # or a warm-up",
    )


def _endless(rate: Rate, times: float) -> Finding:
    reached, (schedule,) = float(rate.values.max()), rate.schedules
    return Finding(
        rule="lr-too-high",
        severity=Severity.WARNING,
        confidence=0.9,
        title=f"the warm-up of {rate.group.subject} never ends: its rate reaches {reached:g}, {times:.3g} times "
        f"{schedule.base_lr[0]:g}",
        optimizer=rate.group.optimizer,
        **line_of(schedule.built or schedule.place),
        step=rate.group.step,
        evidence={"highest rate": reached, "rate asked for": schedule.base_lr[0], "threshold": f"{PASSED:g} times"},
        why="The factor of the schedule rises with each step and is not held at 1.",
        fix="lambda step: min(1.0, (step + 1) / warmup_steps)",
    )


def _times(ratio: float) -> str:
    return f"{ratio:.3g} times" if ratio > 1 else f"{ratio:.0%} of"


def _trouble(run: Run, name: str) -> str | None:
    """Return what is wrong with the course of the loss, in words; None where nothing is."""
    if any(record.birth is Birth.INPUT for record in run.of(NonfiniteRecord)):
        return None
    _, values = run.series("loss", name=name)
    if any(not math.isfinite(value) for value in values[1:]):
        return "becomes NaN or infinite" if math.isfinite(values[0]) and not _breaks_elsewhere(run, values) else None
    curve = loss_curve(run, name)
    if curve is None or len(curve.values) < MIN_LOSSES:
        return None
    first = float(curve.values[0])  # computed before any step, so that no rate has touched it
    if first > 0 and curve.end > first + 2 * curve.error_of_mean:
        return f"ends at {curve.end:.3g}, above its start at {first:.3g}"
    swing = _swing(curve)
    return f"climbs by {swing:.3g} on its way" if 0 < first < swing else None


def _breaks_elsewhere(run: Run, losses: Sequence[float]) -> bool:
    """Whether an operator outside of its domain broke the run, with a loss that had not risen before."""
    sound = list(itertools.takewhile(math.isfinite, losses))
    domain = any(record.birth is Birth.FORWARD and record.cause in FRAGILE for record in run.of(NonfiniteRecord))
    return domain and max(sound) <= RISEN * abs(sound[0])


def _swing(curve: LossCurve) -> float:
    """Return how far the smoothed loss rises above what it had reached before."""
    reached = np.minimum.accumulate(np.concatenate([curve.values[:1], curve.smooth]))[:-1]
    return float((curve.smooth - reached).max())


def _early(run: Run) -> float:
    """Return until which step a jump is the rate's doing: later on a batch may have thrown the weights off."""
    return max(FROM_STEP, EARLY * run.steps)


def _before_growth(run: Run, updates: GroupUpdates) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the steps whose gradients had not grown out of proportion, and their ratios.

    Those of plain gradient descent are known at every step, from its rate and the length of the gradients.
    """
    norms = dict(zip(*run.series("grad_norm", name=""), strict=True))
    limit = GROWN * _first_norm(list(norms.values()))
    steps, ratios = updates.steps, updates.ratios
    if "SGD" in updates.group.class_name:  # whose steps are as long as the gradients
        limit = min(limit, EXPLODING)
        if len(run.of(GroupRecord)) == 1:
            steps, ratios = _estimated(run, updates, norms)
    kept = np.asarray([norms.get(int(step), 0.0) <= limit for step in steps], dtype=bool)
    return steps[kept], ratios[kept]


def _estimated(
    run: Run, updates: GroupUpdates, norms: Mapping[int, float]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return each step of plain gradient descent and its ratio, with the weights as last measured before it."""
    values = next((each.values for each in rates(run) if each.group is updates.group), np.zeros(0))
    first = updates.group.step
    found = [(step, norm * values[step - first]) for step, norm in norms.items() if 0 <= step - first < len(values)]
    steps = np.asarray([step for step, _ in found], dtype=np.int64)
    at = np.maximum(np.searchsorted(updates.steps, steps, side="right") - 1, 0)
    return steps, np.asarray([moved for _, moved in found]) / updates.lengths[at]


def _first_norm(norms: Sequence[float]) -> float:
    known = [norm for norm in norms[:3] if math.isfinite(norm)]
    return median(known) if known else math.inf
