"""The steps make the criterion larger instead of smaller.

*Symptom*: the criterion rises from step to step without bound, smoothly, as if training worked in reverse.

*Why it happens*: ``maximize=True`` on the optimizer, a minus sign in front of a criterion that already is something to
be made small, or both meant and one forgotten; an optimizer of one's own that adds the gradient; a learning rate that
falls below zero, as a straight line does behind its end. So with a term beside the criterion, such as a KL divergence,
that has the wrong sign: the loss then falls below any number.

*What to try*: drop the sign, or the option. A score that should grow is negated once: ``loss = -score``.

*Source*: PyTorch documentation (``maximize``); Humbatova et al., ICSE 2020 (wrong loss function).
"""

import math
import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from torchmagic.analyses.data_lines import lines_giving
from torchmagic.analyses.loss_curve import SHARE
from torchmagic.analyses.objective import Objective, single_objective
from torchmagic.analyses.optimizer_lines import built_with, place_of_building, place_of_setting
from torchmagic.analyses.other_terms import endless_fall, line_of_other_term
from torchmagic.analyses.rate_lines import place_of_rate
from torchmagic.analyses.rates import ZERO, rates
from torchmagic.analyses.texts import places_by
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.loop import OwnStepsRecord
from torchmagic.records.loss import BackwardRecord, LossRecord
from torchmagic.records.model import ParameterRecord
from torchmagic.records.objective import GroupRecord, ObjectiveRecord
from torchmagic.rules.rule import Located, line_of, rule
from torchmagic.session.run import Run

# How far the criterion must have risen (catalogue).
MIN_RISE = 1.5
MIN_STEPS = 5
# Steps of an optimizer of the user's own that must have gone along with the gradient.
SURELY = 0.8
NEGATION = re.compile(r"(?:=|return|\()\s*-\s*[\w(]|-\s*1(?:\.0?)?\s*\*|\*\s*\(?\s*-\s*1|=\s*[\d.]+\s*-\s*\w|\.neg\(")


@rule
def ascending_loss(run: Run, *, min_rise: float = MIN_RISE) -> Iterator[Finding]:
    """Report a run that goes up its criterion, by the optimizer's option, by a sign or by the sign of a rate."""
    yield from _negative_rates(run)
    objective, groups = single_objective(run), run.of(GroupRecord)
    models = {record.name for record in run.of(ParameterRecord)}
    if objective is None or not groups or any(not set(group.parameters) & models for group in groups):
        return  # what is no model's may be an attack, which goes up on purpose
    if not any(group.maximize for group in groups):
        yield from _other_term(run, objective, groups[0], min_rise)
    climbing = _climbing(run)
    up = {(objective.sign == -1) is not (group.maximize or group.optimizer in climbing) for group in groups}
    if objective.sign == 0 or up != {True}:
        return
    values = _criterion(run)
    rise = _rise(values)
    if rise is None or rise < min_rise:
        return
    yield Finding(
        rule="ascending-loss",
        severity=Severity.ERROR,
        confidence=0.95,
        title=f"{objective.criteria[0]} rises from {values[0]:.3g} to {values[-1]:.3g}: the steps go up, not down",
        optimizer=groups[0].optimizer,
        step=groups[0].step,
        **_told(run, objective, groups[0], {"last over first value": rise, "threshold": min_rise}),
    )


def _negative_rates(run: Run) -> Iterator[Finding]:
    """Report the first group of each optimizer whose rate was above zero, and is below it later on."""
    told: set[str] = set()
    for rate in rates(run):
        below = np.flatnonzero(rate.values[: rate.num_steps] < -ZERO)
        if len(below) < MIN_STEPS or rate.values[0] <= 0 or rate.group.optimizer in told:
            continue
        told.add(rate.group.optimizer)
        first = rate.group.step + int(below[0])
        yield Finding(
            rule="ascending-loss",
            severity=Severity.ERROR,
            confidence=0.95,
            title=f"the learning rate of {rate.group.subject} falls below 0 at step {first}: from there steps go up",
            optimizer=rate.group.optimizer,
            **line_of(place_of_rate(run, rate)),
            step=first,
            evidence={
                "steps below 0": len(below),
                "steps": rate.num_steps,
                "threshold": MIN_STEPS,
                "least rate": float(rate.values.min()),
                "schedule": rate.schedules[0].class_name if rate.schedules else "none",
            },
            why="A step goes down the gradient times the rate; times a rate below 0 it goes up.",
            fix="max(0.0, …)  # around the factor; and plan the schedule for all steps that it makes",
        )


def _climbing(run: Run) -> set[str]:
    """Return the optimizers of the user's own that were seen to go up the gradients."""
    own = run.of(OwnStepsRecord)
    return {each.optimizer for each in own if each.steps >= MIN_STEPS and each.uphill > SURELY * each.steps}


def _told(run: Run, objective: Objective, group: GroupRecord, evidence: dict[str, float]) -> dict[str, Any]:
    """Return where it is that a run goes up, why, and what to do about it."""
    if group.maximize:
        place = line_of(place_of_setting(run, group, "maximize"))
        because, why = "maximize=True", "The optimizer was told to maximise."
        fix = f"{built_with(run, group, 'maximize', None)}  # without maximize=True"
    elif objective.sign == 1:
        place = line_of(place_of_building(run, group))
        because = f"the steps of {group.class_name}"
        why = f"{group.class_name} adds the gradients to the weights; down is against them."
        fix = "p.add_(p.grad, alpha=-lr)  # against the gradient"
    else:
        place = _negation(run)
        because, why = "a minus sign", "To make minus a criterion small is to make it large."
        fix = (
            f"(-{objective.losses[0]}).backward()  # what is to be made large is negated once"
            if objective.mixed
            else "loss = criterion(output, target)  # without the minus sign"
        )
    return {**place, "why": why, "fix": fix, "evidence": {**evidence, "because of": because}}


def _other_term(run: Run, objective: Objective, group: GroupRecord, min_rise: float) -> Iterator[Finding]:
    """Report a term beside the criterion that is made ever larger, for it enters with the wrong sign."""
    fall = endless_fall(run, objective)
    if fall is None or not (fall.sure or fall.criterion_last >= min_rise * fall.criterion_first):
        return
    loss, criterion = objective.losses[0], objective.criteria[0]
    backward = next((each.place for each in run.of(BackwardRecord)), None)
    terms = places_by(run, lambda text: line_of_other_term(run, text, loss))
    yield Finding(
        rule="ascending-loss",
        severity=Severity.ERROR,
        confidence=0.85,
        title=f"{loss} falls to {fall.loss_last:.3g}, and not by {criterion}: another term has the wrong sign",
        optimizer=group.optimizer,
        **line_of(next(iter(terms), backward)),
        step=group.step,
        evidence={
            f"{loss} at first": fall.loss_first,
            f"{loss} at last": fall.loss_last,
            f"{criterion} at first": fall.criterion_first,
            f"{criterion} at last": fall.criterion_last,
            "last over first value": fall.criterion_last / fall.criterion_first,
            "threshold": min_rise,
        },
        why=f"{criterion} is never below zero, so another term takes the loss there: it is made ever larger where it "
        "should be made small.",
        fix="turn the sign of the term that is no criterion: a KL divergence or a penalty is added, "
        "and is never below zero itself",
    )


def _criterion(run: Run) -> Sequence[float]:
    """Return the values of the criterion: from the loss at every step where it is a multiple, else from the looks."""
    records = run.of(ObjectiveRecord)
    first = records[0]
    _, losses = run.series("loss", name=first.loss)
    if len(records) == 1 and not first.mixed and math.isfinite(first.scale) and first.scale > 0:
        values = [first.sign * value / first.scale for value in losses]
        _, seen = run.series("criterion", name=first.loss)
        if not seen or math.isclose(seen[0], values[0], rel_tol=1e-3, abs_tol=1e-6):
            return values
    return run.series("criterion", name=first.loss)[1]


def _rise(values: Sequence[float]) -> float | None:
    """Return the last smoothed value over the first, when all thirds rise; None where there is nothing steady."""
    if len(values) < MIN_STEPS or not math.isfinite(values[0]) or values[0] <= 0:
        return None
    broken = next((i for i, value in enumerate(values) if not math.isfinite(value)), None)
    sound = np.asarray(values[:broken])
    if len(sound) < MIN_STEPS:
        return math.inf if len(sound) > 1 and np.all(np.diff(sound) > 0) else None
    thirds = [float(part.mean()) for part in np.array_split(sound, 3)]
    width = max(1, round(SHARE * len(sound)))
    steady = thirds[0] < thirds[1] < thirds[2]
    return float(sound[-width:].mean() / sound[:width].mean()) if steady else None


def _negation(run: Run) -> Located:
    """Return the line of the minus sign: that of the criterion, of the backward, or one in the cell."""
    found = [*(each.place for each in run.of(LossRecord)), *(each.place for each in run.of(BackwardRecord))]
    places = [place for place in found if place is not None]
    for place in places:
        if NEGATION.search(place.source):
            return line_of(place)
    names = {record.loss for record in run.of(ObjectiveRecord)}
    given = places_by(run, lambda text: [line for name in names for line, _ in lines_giving(text, name)])
    negated = (place for place in given if NEGATION.search(place.source))
    return line_of(next(negated, next(iter(places), None)))
