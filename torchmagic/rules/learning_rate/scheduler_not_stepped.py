"""A scheduler is built and never stepped.

*Symptom*: the learning rate stays where it began; the schedule in the code has no effect.

*Why it happens*: the call of ``scheduler.step()`` was forgotten, or stands in a branch that is never taken. A warm-up
or one-cycle schedule then leaves the rate at its low first value.

*What to try*: call ``scheduler.step()`` once an epoch, or once a batch for schedules that count batches.

*Source*: PyTorch documentation, "How to adjust learning rate"; Humbatova et al., ICSE 2020 (missing API call).
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

from torchmagic.analyses.rates import Rate, rates
from torchmagic.analyses.schedule_names import schedule_name
from torchmagic.analyses.schedules import LENGTHS
from torchmagic.analyses.source_calls import calls_under_condition
from torchmagic.analyses.source_lines import lines_calling
from torchmagic.analyses.texts import places_by, says
from torchmagic.analyses.uncalled_methods import told_at_uncalled
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.model import LoaderRecord
from torchmagic.records.schedule import ScheduleRecord
from torchmagic.rules.rule import Located, line_of, rule
from torchmagic.session.run import Run

# Steps and passes over the data that give a schedule its chance (catalogue).
MIN_STEPS = 20
MIN_EPOCHS = 2
# Schedules whose course is meant to go on with each batch; a length within this factor of all steps says the same.
IN_BATCHES = ("OneCycleLR", "CyclicLR")
ALIKE = 2.0


@rule
def scheduler_not_stepped(
    run: Run, *, min_steps: float = MIN_STEPS, min_epochs: float = MIN_EPOCHS
) -> Iterator[Finding]:
    """Report each optimizer whose only schedulers were built in this run and never stepped."""
    told = set()
    for rate in rates(run):
        idle = [each for each in rate.schedules if not each.stepped]
        place = next((found for each in idle if (found := _place(run, each))["line"] is not None), None)
        if place is None or len(idle) < len(rate.schedules) or rate.group.optimizer in told:
            continue  # built earlier, or another schedule has its turn
        epochs = _num_epochs(run, rate)
        if rate.num_steps < min_steps or (epochs is not None and epochs < min_epochs):
            continue
        told.add(rate.group.optimizer)
        finding = _finding(run, rate, idle[0], place, min_steps)
        if _waits_for_its_turn(run, idle[0]):
            finding = replace(finding, severity=Severity.INFO, confidence=0.6)
        yield told_at_uncalled(run, finding, "step", name=idle[0].name)


def _waits_for_its_turn(run: Run, record: ScheduleRecord) -> bool:
    """Whether the code steps it under a condition, whose time may come in a longer run."""
    return says(run, lambda text: calls_under_condition(text, "step", record.class_name))


def _finding(run: Run, rate: Rate, record: ScheduleRecord, place: Located, min_steps: float) -> Finding:
    epochs = _num_epochs(run, rate)
    return Finding(
        rule="scheduler-not-stepped",
        severity=Severity.WARNING,
        confidence=0.9,
        title=f"{record.class_name} is built for {rate.group.optimizer} and never stepped in {rate.num_steps} steps",
        optimizer=rate.group.optimizer,
        **place,
        step=rate.group.step,
        evidence={
            "optimizer steps": rate.num_steps,
            "threshold": min_steps,
            "passes over the data": epochs if epochs is not None else "not known",
            "learning rate all along": float(rate.values[0]),
        },
        why="A scheduler changes the rate only when its step() is called.",
        fix=_fix(run, rate, record, epochs),
    )


def _fix(run: Run, rate: Rate, record: ScheduleRecord, epochs: int | None) -> str:
    name = schedule_name(run, record)
    if record.metric:
        return f"{name}.step(loss)  # once an epoch, with the value that it is to watch, as the loss of the validation"
    if _counts_batches(record, rate.num_steps, epochs):
        return f"{name}.step()  # once a batch, after {rate.group.optimizer}.step()"
    return f"{name}.step()  # once an epoch"


def _counts_batches(record: ScheduleRecord, num_steps: int, epochs: int | None) -> bool:
    """Whether a schedule is one of batches: by its kind, or as its length is about that of all steps."""
    if record.class_name in IN_BATCHES:
        return True
    length = next((record.settings[name] for name in LENGTHS if record.settings.get(name)), 0.0)
    return num_steps / ALIKE <= length <= num_steps * ALIKE and (epochs is None or length > ALIKE * epochs)


def _num_epochs(run: Run, rate: Rate) -> int | None:
    """Return the most passes over a loader, or over loaders that are made anew for each; None where none was used."""
    counts = [len(run.series("epoch_batches", name=loader)[0]) for loader in run.subjects("epoch_batches")]
    anew = defaultdict[object, set[int]](set)  # at which steps their passes began: a test's do so beside the next one's
    for record in run.of(LoaderRecord):
        alike = record.place, record.made, record.num_samples, record.num_batches
        begun = run.series("epoch_start_seconds", name=record.name)[0]
        anew[alike] |= {step for step in begun if 0 <= step - rate.group.step < rate.num_steps}
    return max((*counts, *map(len, anew.values())), default=None)


def _place(run: Run, record: ScheduleRecord) -> Located:
    if record.built is not None:
        return line_of(record.built)
    built = places_by(run, lambda text: lines_calling(text, (record.class_name,)))
    return line_of(next(iter(built), None))
