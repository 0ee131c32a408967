"""The steps are so short that the weights hardly move.

*Symptom*: the loss is the same number, epoch after epoch, although gradients are there.

*Why it happens*: a learning rate several orders of magnitude too small, or one that was scaled down twice.

*What to try*: raise the learning rate by factors of ten. For Adam 1e-3 is a usual start, for SGD 1e-2 to 1e-1; a step
that changes weights by about a thousandth of their size is a healthy one.

*Source*: Zhang et al., AUTOTRAINER, ICSE 2021 (slow convergence); Karpathy, CS231n notes (ratio of updates to weights).
"""

from collections.abc import Iterator, Sequence
from statistics import median

from torchmagic.analyses.loss_curve import LossCurve, loss_curve
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


@rule
def update_too_small(
    run: Run, *, max_ratio: float = MAX_RATIO, min_steps: float = MIN_STEPS, max_change: float = MAX_CHANGE
) -> Iterator[Finding]:
    """Report the optimizers of a run in which nothing moves, neither weights nor loss."""
    updates = group_updates(run)
    losses = run.subjects("loss")
    curve = loss_curve(run, losses[0]) if len(losses) == 1 else None
    if not updates or curve is None or curve.broken or run.steps < min_steps:
        return
    worst = max(float(each.ratios.max()) for each in updates)
    change = abs(curve.end - curve.start) / abs(curve.start) if curve.start else 1.0
    pull = _pull(run, updates, curve)
    # What the weights did not bring about is the noise of the batches.
    brought = min(change, pull * worst * run.steps)
    if worst >= max_ratio or brought >= max_change or pull <= MIN_PULL:
        return
    group = updates[0].group
    yield Finding(
        rule="update-too-small",
        severity=Severity.WARNING,
        confidence=0.85,
        title=f"steps of {group.optimizer} change the weights by {worst:.1g} of their size at most",
        optimizer=group.optimizer,
        **line_of(group.built),
        step=group.step,
        evidence={
            "largest update over weights": worst,
            "threshold": max_ratio,
            "change of the loss": change,
            "change that the steps explain": pull * worst * run.steps,
            "learning rate": group.lr if group.lr is not None else "not known",
            "steps": run.steps,
        },
        why="At this pace a thousand steps change nothing that could be seen: gradients are there, the rate is not.",
        fix=f"torch.optim.{group.class_name}(model.parameters(), lr={_better(group.lr, worst):.0e})",
    )


def _pull(run: Run, updates: Sequence[GroupUpdates], curve: LossCurve) -> float:
    """Return by how much of itself the loss would fall, at most, were the weights to change by their own size."""
    _, norms = run.series("grad_norm", name="")
    known = [norm for norm in norms if norm == norm]  # noqa: PLR0124 - not NaN
    length = max(float(each.lengths[0]) for each in updates)
    return median(known) * length / abs(curve.start) if known and abs(curve.start) > MIN_LOSS else 0.0


def _better(rate: float | None, ratio: float) -> float:
    """Return the rate at which steps would change weights by a thousandth of their size."""
    return float(min((rate or 1e-6) * 1e-3 / max(ratio, 1e-12), 0.1))
