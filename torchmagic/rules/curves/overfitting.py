"""The evaluation loss rises while the training loss goes on falling.

*Symptom*: training looks better and better, and the model gets worse on data it has not seen.

*Why it happens*: the model has begun to learn the training samples by heart: too much capacity, too little data, too
many passes.

*What to try*: keep the weights of the best evaluation; add data, augmentation, dropout or weight decay; stop earlier.

*Source*: SageMaker Debugger, Overfit; Prechelt, "Early stopping, but when?", 1998.
"""

from collections.abc import Iterator

from torchmagic.analyses.early_stopping import EvaluationCurve, early_stopping
from torchmagic.analyses.loss_curve import loss_curve
from torchmagic.records.evaluation import EvaluationRecord, StoppingRecord
from torchmagic.records.feeding import SharedRowsRecord
from torchmagic.records.finding import Finding, Severity
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run

# Rise of the evaluation loss above its least (catalogue).
MIN_RISE = 0.2
# Evaluations, and those since the best one: one bad pass is noise.
MIN_PASSES = 4
MIN_SINCE = 2
# A loss this small, against its first value, may double and mean nothing.
NEGLIGIBLE = 0.02


@rule
def overfitting(run: Run, *, min_rise: float = MIN_RISE, min_passes: float = MIN_PASSES) -> Iterator[Finding]:
    """Report each evaluation loss that has turned while training went on falling."""
    for curve in early_stopping(run):
        if curve.num_passes < min_passes or curve.since_best < MIN_SINCE or curve.rise < min_rise:
            continue
        if not curve.best > 0 or curve.last < NEGLIGIBLE * curve.first or not _training_falls(run, curve):
            continue
        records = [record for record in run.of(EvaluationRecord) if curve.subject in record.loss_names]
        if any(record.trained_on or _on_training_rows(run, record) for record in records):
            continue
        yield Finding(
            rule="overfitting",
            severity=Severity.INFO,
            confidence=0.8,
            title=f"{curve.subject} is {curve.rise:.0%} above its best of {curve.best:.3g} at step {curve.best_step}, "
            "while training goes on falling",
            **line_of(records[0].place if records else None),
            step=curve.best_step,
            evidence={
                "rise above the best": curve.rise,
                "threshold": min_rise,
                "evaluations since the best": curve.since_best,
                "best": curve.best,
                "last": curve.last,
            },
            why="Since the best evaluation the model has learned what holds for the training samples only.",
            fix=_fix(run, curve, trained=any(record.also_trained for record in records)),
        )


def _on_training_rows(run: Run, record: EvaluationRecord) -> bool:
    """Whether most rows of an evaluation were trained on before: then it tells nothing of other samples."""
    return any(
        (each.model, each.loader) == (record.model, record.loader)
        and (each.loader or each.place == record.place)
        and 2 * each.num_equal > each.num_rows
        for each in run.of(SharedRowsRecord)
    )


def _training_falls(run: Run, curve: EvaluationCurve) -> bool:
    """Whether the training loss is lower at the end than around the best evaluation."""
    names = run.subjects("loss")
    train = loss_curve(run, names[0]) if len(names) == 1 else None
    if train is None or curve.gap_at_best is None or curve.gap_at_last is None:
        return False
    at_best, at_last = curve.best - curve.gap_at_best, curve.last - curve.gap_at_last
    return at_last < at_best


def _fix(run: Run, curve: EvaluationCurve, *, trained: bool) -> str:
    kept = trained and any(record.holds_best for record in run.of(StoppingRecord) if record.subject == curve.subject)
    if kept:
        return "# the best weights are kept; fewer epochs would give the same"
    return "best = copy.deepcopy(model.state_dict())  # at each new best evaluation, and load it at the end"
