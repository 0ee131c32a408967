"""This file is early stopping: what patience would have done with the evaluation losses of a run."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from torchmagic.analyses.objective import last_beginning
from torchmagic.records.loss import LossRecord
from torchmagic.records.objective import ObjectiveRecord
from torchmagic.session.run import Run

PATIENCES = (3, 5, 10)
# The training loss at an evaluation is the mean over so many steps up to it.
WINDOW = 20

# What a loss is called that a model computes itself.
OWN = "loss"


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationCurve:
    """One evaluation loss over a run, as a patience of some passes would have seen it.

    Args:
        subject: Subject of ``eval_loss``.
        num_passes: Evaluations.
        first: Loss of the first one.
        last: Loss of the last one.
        best: Least loss; NaN where none was finite.
        best_pass: Which evaluation that was, from 0.
        best_step: Optimizer steps made before it.
        since_best: Evaluations after it.
        would_stop: For each patience, optimizer steps made before the evaluation at which it would have run out.
        rise: How far the last loss lies above the best, as a share of the best.
        gap_at_best: Evaluation loss less training loss at the best evaluation; None without a training loss.
        gap_at_last: The same at the last one.
        comparable: Whether both losses are one criterion, reduced in one way, so that the gap means something.
        since: Step at which the last of several trainings, as of folds, began; only its evaluations count.
    """

    subject: str
    num_passes: int
    first: float
    last: float
    best: float
    best_pass: int
    best_step: int
    since_best: int
    would_stop: Mapping[int, int]
    rise: float
    gap_at_best: float | None
    gap_at_last: float | None
    comparable: bool = True
    since: int = 0


def early_stopping(run: Run, *, least_change: float = 0.0) -> tuple[EvaluationCurve, ...]:
    """Return a curve for each subject of ``eval_loss``.

    Args:
        run: A run.
        least_change: How much lower a loss must be to count as better.
    """
    return tuple(_curves(run, least_change))


def _curves(run: Run, least_change: float) -> Iterator[EvaluationCurve]:
    training = run.subjects("loss")
    train_steps, train_losses = run.series("loss", name=training[0]) if training else ([], [])
    since = last_beginning(run)
    for subject in run.subjects("eval_loss"):
        steps, losses = _after(since, *run.series("eval_loss", name=subject))
        best, best_at = math.inf, 0
        stops: dict[int, int] = {}
        for i, loss in enumerate(losses):
            if loss < best - (least_change if best < math.inf else 0.0):
                best, best_at = loss, i
            for patience in PATIENCES:
                if i - best_at >= patience:
                    stops.setdefault(patience, steps[i])
        gaps = [
            losses[i] - train if (train := _mean_up_to(steps[i], train_steps, train_losses)) is not None else None
            for i in (best_at, len(losses) - 1)
        ]
        yield EvaluationCurve(
            subject=subject,
            num_passes=len(losses),
            first=losses[0],
            last=losses[-1],
            best=best if best < math.inf else math.nan,
            best_pass=best_at,
            best_step=steps[best_at],
            since_best=len(losses) - 1 - best_at,
            would_stop=stops,
            rise=(losses[-1] - best) / abs(best) if best and best < math.inf else 0.0,
            gap_at_best=gaps[0],
            gap_at_last=gaps[1],
            comparable=_is_comparable(run, subject),
            since=since if steps[0] > since else 0,
        )


def _after(since: int, steps: list[int], losses: list[float]) -> tuple[list[int], list[float]]:
    """Return the evaluations of the last training; all of them where it has none."""
    begin = next((i for i, step in enumerate(steps) if step > since), 0) if since else 0
    return steps[begin:], losses[begin:]


def _is_comparable(run: Run, subject: str) -> bool:
    """Whether an evaluation's criterion is the training's, and nothing is known of another reduction or other terms."""
    name = subject.partition("(")[0]
    reductions = {each.reduction for each in run.of(LossRecord) if each.name == name}
    plain = all(name in each.criteria and not each.mixed for each in run.of(ObjectiveRecord))
    return len(reductions) <= 1 and (plain or name == OWN)


def _mean_up_to(step: int, steps: list[int], losses: list[float]) -> float | None:
    """Return the mean of the training losses of the steps just before an evaluation."""
    recent = [loss for at, loss in zip(steps, losses, strict=True) if step - WINDOW <= at < step]
    return sum(recent) / len(recent) if recent else None
