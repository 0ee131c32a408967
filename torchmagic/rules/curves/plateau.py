"""The loss has been flat for half of the run, far above what it could reach.

*Symptom*: the second half of the run changes nothing.

*Why it happens*: the model only learned the shares of the classes, or the mean of the targets, and sees nothing beyond;
or the learning rate has vanished.

*What to try*: look at the schedule, at the inputs and their scale, at the initialisation; stop earlier.

*Source*: SageMaker Debugger, LossNotDecreasing; Karpathy, "A recipe for training neural networks", 2019.
"""

from collections.abc import Iterator
from dataclasses import replace

from torchmagic.analyses.improvement import evaluation_falls
from torchmagic.analyses.loss_curve import LossCurve, loss_curve
from torchmagic.analyses.objective import begins_anew, level_of_guessing
from torchmagic.analyses.rates import rates, vanished_rate
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.loss import BackwardRecord
from torchmagic.records.place import Place
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run

# Change of the smoothed loss over the second half (catalogue).
MAX_CHANGE = 0.01
MIN_STEPS = 30
# Noise widens what counts as flat, but nobody would say of more than this that it stays.
MOST_CHANGE = 0.2
VANISHED = "with a learning rate that has vanished"
# A loss this far below its start has come down to something.
LOW = 0.1


@rule
def plateau(run: Run, *, max_change: float = MAX_CHANGE, min_steps: float = MIN_STEPS) -> Iterator[Finding]:
    """Report a loss that is flat over the second half, at chance level or because the rate is gone."""
    names = run.subjects("loss")
    curve = loss_curve(run, names[0]) if len(names) == 1 else None
    if curve is None or curve.broken or min(len(curve.values), run.steps) < min_steps or begins_anew(run):
        return
    change, noise = _change(curve)
    threshold = max_change + min(2 * noise, MOST_CHANGE)
    falls = curve.still_falls() or evaluation_falls(run)
    reason = _reason(run, curve) if change < threshold and not falls else None
    if reason is None:
        return
    yield Finding(
        rule="plateau",
        severity=Severity.INFO,
        confidence=0.7,
        title=f"the loss stays at {curve.end:.3g} over the second half of {run.steps} steps, {reason}",
        **line_of(_place(run, of_rate=reason == VANISHED)),
        step=run.steps // 2,
        evidence={"change over the second half": change, "threshold": threshold, "loss at the end": curve.end},
        why="Steps go on and nothing is gained by them.",
        fix="print(scheduler.get_last_lr())  # or stop earlier"
        if reason == VANISHED
        else "# let the model learn one small batch by heart first",
    )


def _change(curve: LossCurve) -> tuple[float, float]:
    """Return the change of the mean from the third to the last quarter, and the error of a mean there, both as shares.

    They are shares of the level of the third quarter. What the first half did is no noise of the second.
    """
    quarter = max(len(curve.values) // 4, 1)
    half = curve.values[-2 * quarter :]
    third, last = float(half[:quarter].mean()), float(half[-quarter:].mean())
    level, later = max(abs(third), 1e-12), replace(curve, values=half)
    return abs(last - third) / level, later.error_of_mean / level


def _reason(run: Run, curve: LossCurve) -> str | None:
    """Return why the level is too high, in words; None where it may be as low as it gets."""
    if chance := level_of_guessing(run, curve.end):
        return f"where guessing gives {chance:.3g}"
    if curve.end < LOW * curve.start:
        return None
    return VANISHED if vanished_rate(run) else None


def _place(run: Run, *, of_rate: bool) -> Place | None:
    """Return the line that makes the schedule, or steps it, where it is to blame; else that of the backward."""
    schedules = [each for rate in rates(run) for each in rate.schedules if each.stepped] if of_rate else []
    backwards = [each.place for each in run.of(BackwardRecord)]
    return next((place for each in schedules if (place := each.built or each.place)), next(iter(backwards), None))
