"""A scheduler that waits for a plateau is told to look the wrong way.

*Symptom*: the learning rate is cut again and again while training goes well; then nothing is learned any more.

*Why it happens*: ``ReduceLROnPlateau`` takes its value for a loss unless it is told otherwise: in mode ``"min"`` each
value above the best one counts as no progress. A score that rises, as an accuracy does, so looks like a plateau from
the second value on. In mode ``"max"`` the same happens to a loss.

*What to try*: ``mode="max"`` for a score, ``mode="min"`` for a loss or an error.

*Source*: PyTorch documentation of ``ReduceLROnPlateau``; forum threads on schedulers stepped with an accuracy.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations

from torchmagic.analyses.improvement import improvement
from torchmagic.analyses.rates import Rate, rates
from torchmagic.analyses.watched_values import is_a_loss, num_cuts
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.schedule import ScheduleRecord
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run

# Values that are watched before anything is said, and the share by which the loss has fallen meanwhile.
MIN_VALUES = 4
MIN_IMPROVEMENT = 0.1
# A value goes away from the best one where of so many pairs the later one is worse. A loss that first falls and then
# rises, as one does that is learned by heart, does not.
MOST_WORSE = 0.8
# Of more values some are compared, at even distances.
MOST_VALUES = 200
OTHER = {"min": "max", "max": "min"}


@rule
def scheduler_mode(
    run: Run, *, min_values: int = MIN_VALUES, min_improvement: float = MIN_IMPROVEMENT
) -> Iterator[Finding]:
    """Report a scheduler whose value goes the other way all along, although the loss came down and the rate was cut.

    A loss that rises in mode ``"min"`` is no mistake of the mode.
    """
    gained = improvement(run)
    if not gained >= min_improvement:
        return
    told = set()
    for rate in rates(run):
        for record in rate.schedules:
            _, values = run.series("schedule_metric", name=record.name)
            if record.mode not in OTHER or record.place in told or len(values) < min_values or not num_cuts(rate):
                continue
            if not _goes_away(record.mode, values) or (record.mode == "min" and is_a_loss(run, record.name)):
                continue
            told.add(record.place)
            yield _finding(rate, record, values, gained=gained, least=min_improvement)


def _goes_away(mode: str, values: Sequence[float]) -> bool:
    """Whether of two values the later one is nearly always the worse one, as the mode has it."""
    sign, some = (1.0 if mode == "min" else -1.0), values[:: len(values) // MOST_VALUES + 1]
    pairs = [sign * (later - earlier) for earlier, later in combinations(some, 2)]
    worse, better = sum(each > 0 for each in pairs), sum(each < 0 for each in pairs)
    # once the rate is gone the value stays: one jump is not enough, and a stretch of equal values no matter
    return worse >= len(some) and worse >= MOST_WORSE * (worse + better)


def _finding(rate: Rate, record: ScheduleRecord, values: Sequence[float], *, gained: float, least: float) -> Finding:
    goes, wanted = ("rises", "fall") if record.mode == "min" else ("falls", "rise")
    made = f'{record.class_name}({record.optimizer}, mode="{OTHER[record.mode]}")'
    return Finding(
        rule="scheduler-mode",
        severity=Severity.WARNING,
        confidence=0.85,
        title=f"{record.class_name} waits for a {record.mode}imum of a value that {goes} from {values[0]:.3g} to "
        f"{values[-1]:.3g} while the loss falls",
        optimizer=record.optimizer,
        **line_of(record.built or record.place),
        step=record.step,
        evidence={
            "values watched": len(values),
            "times that the rate was cut": num_cuts(rate),
            "learning rate": f"{rate.values.max():.3g} to {rate.values[-1]:.3g}",
            "the loss has fallen by": f"{gained:.0%}",
            "threshold": f"{least:.0%}",
        },
        why=f"In mode {record.mode!r} hardly any of these values is better than those before: all look like a plateau.",
        fix=f"{record.name} = {made}  # or watch a value that should {wanted}",
    )
