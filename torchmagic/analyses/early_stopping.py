"""This file is early stopping: what patience would have done with the evaluation losses of a run."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from torchmagic.session.run import Run

PATIENCES = (3, 5, 10)
# The training loss at an evaluation is the mean over so many steps up to it.
WINDOW = 20


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
    for subject in run.subjects("eval_loss"):
        steps, losses = run.series("eval_loss", name=subject)
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
        )


def _mean_up_to(step: int, steps: list[int], losses: list[float]) -> float | None:
    """Return the mean of the training losses of the steps just before an evaluation."""
    recent = [loss for at, loss in zip(steps, losses, strict=True) if step - WINDOW <= at < step]
    return sum(recent) / len(recent) if recent else None
