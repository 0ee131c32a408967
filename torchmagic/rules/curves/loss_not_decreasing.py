"""The loss does not come down, and nothing more specific explains it.

*Symptom*: after many steps the loss is where mere guessing would leave it.

*Why it happens*: too small or too large a learning rate, targets that do not belong to the inputs, a model that cannot
represent them, a preprocessing step that destroys the signal.

*What to try*: let the model learn one small batch by heart; when that works, look at the data, when it does not, at the
model and the loss.

*Source*: Karpathy, "A recipe for training neural networks", 2019; Zhang et al., AUTOTRAINER, ICSE 2021.
"""

from collections.abc import Iterator

from torchmagic.analyses.improvement import evaluation_falls
from torchmagic.analyses.loss_curve import loss_curve
from torchmagic.analyses.objective import NEAR_CHANCE, begins_anew, chance_level, single_objective
from torchmagic.analyses.rates import searches_rate, vanished_rate
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.loss import BackwardRecord
from torchmagic.records.model import LoaderRecord
from torchmagic.records.notebook import OptimizerStateRecord
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run

# Steps, and end over start of the smoothed loss (catalogue).
MIN_STEPS = 30
MIN_END = 0.98
# A loss that ever was this far below its start does come down.
MIN_EVER = 0.93
# What begins to learn does not lose pace; labels that have nothing to do with the inputs are learned ever more slowly.
PACE = 0.9


@rule
def loss_not_decreasing(run: Run, *, min_steps: float = MIN_STEPS, min_end: float = MIN_END) -> Iterator[Finding]:
    """Report a single objective that begins at chance level, or above, and does not fall."""
    objective = single_objective(run)
    if objective is None or len(objective.losses) > 1 or objective.mixed or objective.altered or objective.sign != 1:
        return
    chance, curve = chance_level(run), loss_curve(run, objective.losses[0])
    if curve is None or curve.broken or len(curve.values) < min_steps or run.steps < min_steps:
        return
    if run.of(OptimizerStateRecord) or searches_rate(run) or begins_anew(run):
        return  # training goes on from where it stood, or several rates or models are tried
    if curve.still_falls(pace=PACE) or evaluation_falls(run) or vanished_rate(run):
        return  # it comes down slowly, or why nothing moves any more is known
    if not chance > 0 or min(curve.start, curve.end) < NEAR_CHANCE * chance:
        return  # the level is not known, or the run is below it
    thirds = len(curve.values) // 3
    late = float(curve.values[-thirds:].mean()) / float(curve.values[:thirds].mean())
    noise = curve.error_of_mean / curve.start
    if min(curve.end / curve.start, late) <= min_end + noise or curve.smooth.min() < MIN_EVER * curve.start - noise:
        return
    backward = next(iter(run.of(BackwardRecord)), None)
    yield Finding(
        rule="loss-not-decreasing",
        severity=Severity.WARNING,
        confidence=0.7,
        title=f"the loss is {curve.end:.3g} after {run.steps} steps and was {curve.start:.3g}; guessing: {chance:.3g}",
        **line_of(backward.place if backward else None),
        step=0,
        evidence={
            "end over start": curve.end / curve.start,
            "threshold": min_end,
            "level of mere chance": chance,
            "steps": run.steps,
        },
        why="The loss is no better than that of the best constant answer, so nothing of the inputs is used.",
        fix=f"{_first_batch(run)}  # train on this alone: where its loss goes to 0, look at the data and the rate, "
        "where it does not, at the model and the loss",
    )


def _first_batch(run: Run) -> str:
    """Return code that takes one batch: from the loader, where there is only one and it has a name."""
    names = {each.name for each in run.of(LoaderRecord)}
    name = names.pop() if len(names) == 1 else ""
    return (
        f"batch = next(iter({name}))"
        if name.replace(".", "").isidentifier() and name != "DataLoader"
        else "x, y = x[:8], y[:8]"
    )
