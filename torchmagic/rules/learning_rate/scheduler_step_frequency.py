"""The scheduler is stepped far more, or far less, often than its schedule was made for.

*Symptom*: the loss stops falling early because the learning rate has vanished; or it falls slowly all along, because a
schedule never gets beyond its warm-up.

*Why it happens*: the numbers of a schedule count calls of ``scheduler.step()``. A decay per epoch that is stepped at
every batch is over after a few batches; a schedule over all batches that is stepped once an epoch hardly begins, as
does a warm-up that takes more steps than the whole training has.

*What to try*: step schedules in epochs (``StepLR``, ``ExponentialLR``, ``CosineAnnealingLR(T_max=epochs)``) behind the
loop over batches, and ``OneCycleLR`` or a warm-up behind each ``optimizer.step()``. A warm-up takes a tenth of all
steps at most.

*Source*: PyTorch documentation of ``OneCycleLR`` ("should be called after every batch"); forum threads on per-batch
and per-epoch schedules.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from torchmagic.analyses.rates import Rate, rates
from torchmagic.analyses.schedule_names import schedule_name
from torchmagic.analyses.schedules import ScheduleRow, schedules
from torchmagic.analyses.source_calls import steps_elsewhere
from torchmagic.analyses.texts import places_by, says, text_around
from torchmagic.analyses.warm_ups import WORD, lasting_warm_up, line_of_warm_up
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.note import CrashRecord
from torchmagic.records.schedule import ScheduleRecord
from torchmagic.rules.rule import Located, line_of, rule
from torchmagic.session.run import Run

# A rate is spent below this share of its peak, too early before this share of the steps (catalogue).
SPENT = 1e-3
EARLY = 0.25
# Three factors of 0.1 make 0.001 only nearly.
ROUNDING = 1e-9
# A schedule of a fixed length should see at least this share of it (catalogue).
MIN_DONE = 0.5
MIN_STEPS = 20
# Schedules that are counted in epochs as a rule. Those that rise again, or are made of factors by hand, can be meant.
IN_EPOCHS = ("ExponentialLR", "StepLR", "MultiStepLR", "CosineAnnealingLR", "PolynomialLR", "ReduceLROnPlateau")
# A length is taken for the number of optimizer steps within this factor.
ALIKE = 1.25


@rule
def scheduler_step_frequency(run: Run, *, spent: float = SPENT, early: float = EARLY) -> Iterator[Finding]:
    """Report schedules that are spent at once, and those of a fixed length that hardly begin or run over."""
    told = set()
    rows = {id(row.record): row for row in schedules(run)}
    overrun = any(crash.message.startswith("Tried to step") for crash in run.of(CrashRecord))
    for rate in rates(run):
        for record in rate.schedules:
            row = rows[id(record)]
            if not record.stepped or record.place in told:
                continue
            found = (
                _spent(run, rate, row, spent=spent, early=early)
                or _unfinished(run, rate, row, overrun=overrun)
                or _warming(run, rate, row)
            )
            if found is not None:
                told.add(record.place)
                yield found


def _spent(run: Run, rate: Rate, row: ScheduleRow, *, spent: float, early: float) -> Finding | None:
    """Return a finding when the rate has vanished early on."""
    record, values = row.record, rate.values
    in_epochs = {record.class_name, *record.parts} & set(IN_EPOCHS)
    if len(values) < MIN_STEPS or not in_epochs:
        return None
    low = np.flatnonzero(values <= spent * (1 + ROUNDING) * np.maximum.accumulate(values))
    if not len(low) or low[0] >= early * len(values):
        return None
    first = int(low[0])
    return _finding(
        rate,
        record,
        title=f"{record.class_name} has brought the learning rate from {values.max():.3g} to {values[first]:.3g} by "
        f"step {first} of {rate.num_steps}",
        evidence={
            "steps until the rate was spent": first,
            "steps": rate.num_steps,
            "threshold": f"below {spent:g} of its peak before {early:.0%} of the steps",
            "optimizer steps a scheduler step": row.cadence if row.cadence is not None else "one call",
        },
        confidence=0.9,
        why="The schedule's numbers count calls of step(): called this often, it is over before training has begun.",
        fix=_moved(run, record),
    )


def _moved(run: Run, record: ScheduleRecord) -> str:
    """Return where the step belongs; where it stands there as well, that the other one is too much."""
    place = record.place
    text = text_around(run, place)
    others = steps_elsewhere(text, record.name, place.line) if place is not None and text else []
    name = schedule_name(run, record)
    if others:
        return f"remove this {name}.step(): the one in line {others[-1]} already steps it once an epoch"
    return f"{name}.step()  # behind the loop over batches, once an epoch"


def _unfinished(run: Run, rate: Rate, row: ScheduleRow, *, overrun: bool) -> Finding | None:
    """Return a finding when a schedule of a fixed length got less than half of it, or more than all."""
    record, num_steps = row.record, rate.num_steps
    if row.length is None or row.done is None or record.built is None or num_steps < MIN_STEPS:
        return None
    whole = "total_steps" in record.settings
    if overrun and whole and row.num_steps >= row.length - 1:
        return _finding(
            rate,
            record,
            title=f"{record.class_name} was made for {row.length} steps and is stepped once more",
            evidence={"steps of the schedule": row.num_steps, "declared": row.length},
            confidence=0.95,
            why="A schedule of a fixed length ends in an error when it is stepped beyond it.",
            fix=f"{record.class_name}(…, total_steps=epochs * len(loader))  # as many as step() is called",
        )
    if row.done >= MIN_DONE or run.of(CrashRecord):
        return None
    rising = rate.values[-1] >= rate.values.max() * (1 - 1e-9)
    in_batches = num_steps / ALIKE <= row.length <= num_steps * ALIKE and (row.cadence or num_steps) > 1
    if not ((whole and rising) or in_batches):
        return None
    return _finding(
        rate,
        record,
        title=f"{record.class_name} was stepped {row.num_steps} times of the {row.length} it was made for",
        evidence={
            "steps of the schedule": row.num_steps,
            "declared": row.length,
            "threshold": MIN_DONE,
            "optimizer steps": num_steps,
        },
        confidence=0.9 if in_batches else 0.75,
        why="Its length counts calls of step(): called this seldom, it ends the run in its first phase.",
        fix=f"{schedule_name(run, record)}.step()  # behind each {rate.group.optimizer}.step()",
    )


def _warming(run: Run, rate: Rate, row: ScheduleRow) -> Finding | None:
    """Return a finding when a rate was still far from its base with the last step, and rose all along."""
    record, num_steps = row.record, rate.num_steps
    goes_on = record.built is None and not record.parts  # one that is made of others is never seen being built
    if goes_on or "total_steps" in record.settings:
        return None
    warm_up = lasting_warm_up(rate, row)
    if warm_up is None or warm_up.share >= MIN_DONE or num_steps < MIN_STEPS or run.of(CrashRecord):
        return None
    so = f" for {warm_up.length} of its steps" if warm_up.length else ""
    found = _finding(
        rate,
        record,
        title=f"{record.class_name} warms up{so} and was stepped {row.num_steps} times: the learning rate never came "
        f"above {warm_up.share:.1%} of {warm_up.base:.3g}",
        evidence={
            "largest share of the base rate": warm_up.share,
            "threshold": MIN_DONE,
            "steps of the schedule": row.num_steps,
            "optimizer steps": num_steps,
            **({"steps of the warm-up": warm_up.length} if warm_up.length else {}),
        },
        confidence=0.8 if record.built is not None else 0.7,
        why="The rate still rises as the training ends: no step was made with the rate that was asked for.",
        fix=_shorter(run, rate, row),
    )
    return replace(found, **_line_of_warm_up(run, row))


def _line_of_warm_up(run: Run, row: ScheduleRow) -> Located:
    """Return the line that steps the schedule too seldom, else the one that says how long it is to warm up."""
    built, place = row.record.built, row.record.place
    if _is_seldom(row) and place is not None and ".step(" in place.source:
        return line_of(place)
    told = places_by(run, line_of_warm_up) if built is not None and WORD not in built.source else []
    return line_of(next(iter(told), built or place))


def _is_seldom(row: ScheduleRow) -> bool:
    """Whether there are several steps of the optimizer for one of the schedule."""
    return row.cadence is not None and row.cadence > 1


def _shorter(run: Run, rate: Rate, row: ScheduleRow) -> str:
    """Return what is to be changed: how often the schedule is stepped, or how long it warms up."""
    if not _is_seldom(row):
        return f"warm up for at most {max(rate.num_steps // 10, 1)} of the {rate.num_steps} steps that are made"
    if says(run, lambda text: "configure_optimizers" in text):
        return '{"scheduler": …, "interval": "step"}  # a trainer steps it once an epoch unless it is told otherwise'
    return f"{schedule_name(run, row.record)}.step()  # behind each {rate.group.optimizer}.step()"


def _finding(
    rate: Rate,
    record: ScheduleRecord,
    *,
    title: str,
    evidence: dict[str, float | str],
    confidence: float,
    why: str,
    fix: str,
) -> Finding:
    return Finding(
        rule="scheduler-step-frequency",
        severity=Severity.WARNING,
        confidence=confidence,
        title=title,
        optimizer=rate.group.optimizer,
        **line_of(record.place),
        step=record.step,
        evidence=evidence,
        why=why,
        fix=fix,
    )
