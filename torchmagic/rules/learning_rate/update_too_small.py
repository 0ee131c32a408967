"""The steps are so short that the weights hardly move.

*Symptom*: the loss is the same number, epoch after epoch, although gradients are there.

*Why it happens*: a learning rate several orders of magnitude too small, or one that was scaled down twice; a loss that
is divided by the number of pixels or samples although its criterion is a mean already; or gradients that are clipped to
a bound several orders below their norm.

*What to try*: raise the learning rate by factors of ten. For Adam 1e-3 is a usual start, for SGD 1e-2 to 1e-1; a step
that changes weights by about a thousandth of their size is a healthy one. Set the bound of clipping near the norms that
gradients have before.

*Source*: Zhang et al., AUTOTRAINER, ICSE 2021 (slow convergence); Karpathy, CS231n notes (ratio of updates to weights).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from torchmagic.analyses.arrivals import stale
from torchmagic.analyses.clipped_norms import clipped_norms, held_norm
from torchmagic.analyses.loss_curve import LossCurve, loss_curve
from torchmagic.analyses.model_names import parameters_in
from torchmagic.analyses.objective import scale_of
from torchmagic.analyses.optimizer_lines import built_with, place_of_setting
from torchmagic.analyses.relative_updates import GroupUpdates, group_updates
from torchmagic.records.finding import Finding, Severity
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run

# Largest update over weights, steps, and change of the smoothed loss (catalogue; a healthy ratio is about 1e-3).
MAX_RATIO = 1e-6
MIN_STEPS = 20
MAX_CHANGE = 0.01
# By how much, at least, the loss would have to fall were the weights to change by their own size: where not even that
# would help, the run has converged or its gradients have vanished, and the rate is not to blame.
MIN_PULL = 1e-3
MIN_LOSS = 1e-6
# A loss that is its criterion times less than this was divided by what the criterion had divided by before.
SMALL_SCALE = 1e-2
# A step this many times the rate times the gradient, with momentum of 0.95, is long because the gradient is.
MOST_MOMENTUM = 20.0
# The loss has moved by more than the noise of its batches when it did by so many errors of the difference of two means.
SURE = 3 * 2**0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class _Gradients:
    """The gradients of a run: their usual norms as the steps used them and before, and the one that a line gave all."""

    used: float
    before: float
    held: float


@rule
def update_too_small(
    run: Run, *, max_ratio: float = MAX_RATIO, min_steps: float = MIN_STEPS, max_change: float = MAX_CHANGE
) -> Iterator[Finding]:
    """Report the optimizers of a run in which nothing moves, neither weights nor loss."""
    lost = {flow.optimizer for flow in stale(run)}  # where no gradient comes the rate is not to blame
    updates = [each for each in group_updates(run) if each.group.optimizer not in lost]
    losses = run.subjects("loss")
    curve = loss_curve(run, losses[0]) if len(losses) == 1 else None
    if not updates or curve is None or curve.broken or run.steps < min_steps:
        return
    worst = max(float(each.ratios.max()) for each in updates)
    gradients = _gradients(run, curve)
    scale = scale_of(run, losses[0])
    change, brought = _changes(gradients, updates, curve, worst * run.steps, scale)
    if worst >= max_ratio or brought is None or brought >= max_change:
        return
    group = updates[0].group
    other = _of_scale(scale, worst, max_ratio) or _of_clipping(run, gradients, updates, worst, max_ratio)
    why, fix = other or (
        "At this pace a thousand steps change nothing that could be seen: gradients are there, the rate is not.",
        built_with(run, group, "lr", float(f"{_better(group.lr, worst):.0e}")),
    )
    yield Finding(
        rule="update-too-small",
        severity=Severity.WARNING,
        confidence=0.85,
        title=f"steps of {group.optimizer} change the weights by {worst:.1g} of their size at most",
        optimizer=group.optimizer,
        **line_of(group.built if other else place_of_setting(run, group, "lr")),
        step=group.step,
        evidence={
            "largest update over weights": worst,
            "threshold": max_ratio,
            "change of the loss": change,
            "change that the steps explain": brought,
            "learning rate": group.lr if group.lr is not None else "not known",
            "norm of the gradients (median)": gradients.used,
            "norm before clipping (median)": gradients.before or "not clipped by torch's functions",
            "steps": run.steps,
        },
        why=why,
        fix=fix,
    )


def _gradients(run: Run, curve: LossCurve) -> _Gradients:
    used = [norm for norm in run.series("grad_norm", name="")[1] if norm == norm]  # noqa: PLR0124 - not NaN
    clipped = clipped_norms(run)
    before = [norm for norm in clipped.before if norm == norm] if clipped is not None else []  # noqa: PLR0124 - not NaN
    return _Gradients(
        used=median(used) if used else 0.0, before=median(before) if before else 0.0, held=held_norm(run, curve)
    )


def _changes(
    gradients: _Gradients, updates: Sequence[GroupUpdates], curve: LossCurve, moved: float, scale: float
) -> tuple[float, float | None]:
    """Return the share by which the loss changed, and the part of it that the steps brought about, at most.

    What they did not bring about is the noise of the batches. None where not even the weights' own size of a change
    would help. A loss that is nearly zero leaves nothing to learn, unless it is a criterion that was made so small.
    """
    least = MIN_LOSS * min(scale, 1.0)
    apart = abs(curve.end - curve.start)
    change = apart / abs(curve.start) if curve.start else 1.0
    length = max(float(each.lengths[0]) for each in updates)
    norm = max(gradients.used, gradients.before)
    pull = norm * length / abs(curve.start) if abs(curve.start) > least else 0.0
    if pull > MIN_PULL:
        return change, min(change, pull * moved)
    if gradients.held and abs(curve.start) > least:  # how long the gradients were is not known
        return change, change if apart > SURE * curve.error_of_mean else 0.0
    return change, None


def _of_scale(scale: float, worst: float, max_ratio: float) -> tuple[str, str] | None:
    """Return why the steps are short, and what to do, where the loss is a criterion that was made far too small."""
    if scale > SMALL_SCALE or worst / scale < max_ratio:
        return None
    why = (
        f"The loss is its criterion times {scale:.2g}, and the gradients are as much smaller: the rate is not to blame."
    )
    return why, f"loss = criterion(output, target)  # without the factor {scale:.2g}: the mean is taken already"


def _of_clipping(
    run: Run, gradients: _Gradients, updates: Sequence[GroupUpdates], worst: float, max_ratio: float
) -> tuple[str, str] | None:
    """Return why the steps are short, and what to write, where the bound of the gradients is to blame."""
    group, used = updates[0].group, gradients.used
    length = max(float((each.ratios * each.lengths[0]).max()) for each in updates)
    if used > 0 and group.lr and length <= MOST_MOMENTUM * group.lr * used:
        if worst * gradients.before / used >= max_ratio:
            why = (
                f"Clipping leaves {used:.1g} of a norm of {gradients.before:.1g}: the bound is to blame, not the rate."
            )
            return why, f"torch.nn.utils.clip_grad_norm_({parameters_in(run)}, {gradients.before:.1g})"
        if gradients.held:
            why = (
                f"All gradients have a norm of {used:.1g} in the steps, whatever the batch: a line scales them to that."
            )
            return why, f"max_norm = 1.0  # where gradients are scaled: the bound is {used:.1g}"
    return None


def _better(rate: float | None, ratio: float) -> float:
    """Return the rate at which steps would change weights by a thousandth of their size."""
    return float(min((rate or 1e-6) * 1e-3 / max(ratio, 1e-12), 0.1))
