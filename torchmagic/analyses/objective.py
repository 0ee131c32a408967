"""This file is the objective: whether a run minimises one loss that is built on standard criteria."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from torchmagic.records.data import ClassCountsRecord, Source
from torchmagic.records.loop import HandStepsRecord, RebuiltOptimizerRecord
from torchmagic.records.loss import BackwardRecord
from torchmagic.records.model import ModelRecord
from torchmagic.records.objective import GroupRecord, ObjectiveRecord
from torchmagic.records.reach import ReachRecord
from torchmagic.session.run import Run

# Functions written in Python that turn no gradient: they run a part of the model again, or are its compiled form.
PLAIN_FUNCTIONS = ("CheckpointFunctionBackward", "CompiledFunctionBackward")
# Criteria that are given classes.
CLASSIFYING = ("cross_entropy", "nll_loss")
# Optimizers with one loss step as often after each backward; those with losses of their own see a backward each.
SHARE_OF_OWN_BACKWARDS = 0.75
# A loss at this share of the level of guessing is hardly better: nothing has been learned yet.
NEAR_CHANCE = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class Objective:
    """The one thing that a run minimises.

    Args:
        losses: Names of its losses, one a line that calls ``backward``.
        criteria: Standard criteria that they are built on.
        sign: 1 where the criteria are minimised, -1 where they are negated, 0 where that cannot be told.
        mixed: Whether there are terms that are no standard criterion.
        altered: Whether a criterion has weights, smoothing, or another reduction than the mean.
        num_classes: Classes of a classification; 0 without one.
    """

    losses: tuple[str, ...]
    criteria: tuple[str, ...]
    sign: int
    mixed: bool
    altered: bool
    num_classes: int


def begins_anew(run: Run) -> bool:
    """Whether a training of the run ended and another one began.

    A model was made again, or an optimizer was, or another optimizer took over the name of one: a function that trains
    what it is given was called again.
    """
    names = [each.name.partition("#")[0] for each in run.of(ModelRecord)]
    starts = {(group.optimizer, group.step) for group in run.of(GroupRecord)}
    taken_over = len({optimizer for optimizer, _ in starts}) < len(starts)
    return taken_over or bool(run.of(RebuiltOptimizerRecord)) or len(set(names)) < len(names)


def last_beginning(run: Run) -> int:
    """Return the step at which the last of several trainings began, each of a model of its own; 0 for a single one."""
    names = [each.name for each in run.of(ModelRecord)]
    again = len(set(names)) < len(names)
    newest: dict[str, GroupRecord] = {}
    step = 0
    for group in run.of(GroupRecord):
        before = newest.setdefault(group.optimizer, group)
        if group.step > before.step and (again or set(group.parameters).isdisjoint(before.parameters)):
            step = max(step, group.step)
        newest[group.optimizer] = group
    return step


def single_objective(run: Run) -> Objective | None:
    """Return the objective of a run, or None: two optimizers with losses of their own, as of a GAN or actor and critic.

    None too for a loss that uses ``log_prob`` or weighs samples by numbers of both signs, for a function of the user's
    own in the graph (it may reverse gradients), for steps by hand that do not go down the gradient (those of an attack
    go up), for a loss without a standard criterion, and where that is not known.
    """
    records = run.of(ObjectiveRecord)
    if not records or not {each.place for each in run.of(BackwardRecord)} <= {each.place for each in records}:
        return None
    if any(each.log_prob or each.weighted or not each.criteria for each in records):
        return None
    if not all(each.descends for each in run.of(HandStepsRecord)):
        return None
    functions = {name for each in run.of(ReachRecord) for name in each.opaque}
    if functions - set(PLAIN_FUNCTIONS) or _compete(run):
        return None
    signs = {each.sign for each in records}
    return Objective(
        losses=tuple(dict.fromkeys(each.loss for each in records)),
        criteria=tuple(dict.fromkeys(name for each in records for name in each.criteria)),
        sign=signs.pop() if len(signs) == 1 else 0,
        mixed=any(each.mixed for each in records),
        altered=any(each.altered for each in records),
        num_classes=max(each.num_classes for each in records),
    )


def scale_of(run: Run, loss: str) -> float:
    """Return what a loss's only criterion, a mean over a batch, is multiplied by; 1 where that is not sure."""
    records = [each for each in run.of(ObjectiveRecord) if each.loss == loss]
    _, losses = run.series("loss", name=loss)
    _, values = run.series("criterion", name=loss)
    if len(records) != 1 or records[0].mixed or records[0].altered or not losses or not values:
        return 1.0
    scale = records[0].scale
    same = math.isclose(abs(losses[0]), scale * abs(values[0]), rel_tol=1e-3)
    return scale if same and scale > 0 else 1.0


def chance_level(run: Run) -> float:
    """Return the loss that the best constant prediction would have had, seen over the run; NaN where not known.

    Classes are counted in more batches than other targets are looked at: where they come one after the other, few
    batches have few of them.
    """
    _, levels = run.series("chance_loss")
    level = max(levels, default=math.nan)
    classes = max((each.num_classes for each in run.of(ObjectiveRecord)), default=0)
    counted = [
        each.counts.values()
        for each in run.of(ClassCountsRecord)
        if each.source is Source.LOSS and each.name in CLASSIFYING and len(each.counts) <= classes
    ]
    return max((level, *(_entropy(list(each)) for each in counted))) if math.isfinite(level) else level


def level_of_guessing(run: Run, loss: float) -> float:
    """Return what guessing gives where a loss is no better, or hardly; 0 where it is better, or nobody knows.

    Args:
        run: Its criteria are known, and nothing was added to them.
        loss: Its level.
    """
    chance = chance_level(run)
    plain = any(each.criteria and not each.altered and not each.mixed for each in run.of(ObjectiveRecord))
    return chance if plain and chance > 0 and loss >= NEAR_CHANCE * chance else 0.0


def _entropy(counts: Sequence[int]) -> float:
    total = sum(counts)
    return -sum(each / total * math.log(each / total) for each in counts)


def _compete(run: Run) -> bool:
    """Whether two optimizers step in the same stretch of the run, each after backwards of its own."""
    spans = _spans(run)
    overlapping = [
        (max(one[0], other[0]), min(one[1], other[1]))
        for i, one in enumerate(spans)
        for other in spans[:i]
        if max(one[0], other[0]) < min(one[1], other[1])
    ]
    if not overlapping:
        return False
    if len(run.of(BackwardRecord)) > 1:
        return True
    first, last = max(overlapping, key=lambda span: span[1] - span[0])
    steps, _ = run.series("loss")
    with_backward = len({step for step in steps if first <= step <= last})
    return with_backward >= SHARE_OF_OWN_BACKWARDS * (last - first)


def _spans(run: Run) -> Sequence[tuple[int, int]]:
    """Return the first and last step of each optimizer."""
    groups: dict[tuple[str, int], GroupRecord] = {}
    for group in run.of(GroupRecord):
        groups.setdefault((group.optimizer, group.step), group)
    return [(group.step, _last_step(run, group, groups.values())) for group in groups.values()]


def _last_step(run: Run, group: GroupRecord, others: Iterable[GroupRecord]) -> int:
    """Return the last step at which the rate of an optimizer is known, before another one takes over its name."""
    end = min(
        (each.step for each in others if each.optimizer == group.optimizer and each.step > group.step), default=None
    )
    steps, _ = run.series("lr", name=group.subject)
    return max((step for step in steps if group.step <= step and (end is None or step < end)), default=group.step)
