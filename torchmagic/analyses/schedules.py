"""This file is the schedules: how often each learning rate scheduler was stepped, against how it was meant."""

import itertools
import statistics
from collections.abc import Mapping
from dataclasses import dataclass

from torchmagic.records.schedule import ScheduleRecord
from torchmagic.session.run import Run

# Settings that say how many steps of the scheduler its whole course takes.
LENGTHS = ("total_steps", "T_max", "total_iters", "last_milestone")


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleRow:
    """How one scheduler was used.

    Args:
        record: What is known of it by itself.
        num_steps: How often it was stepped.
        cadence: Optimizer steps between two of its steps, the middle value; 1 is once a batch. None below two steps.
        length: How many of its steps its course takes; None where it has no end, or is made of others.
        done: Share of its course that it went, together with those of the same line that took over its state; above 1
            where it went on. None without a length.
    """

    record: ScheduleRecord
    num_steps: int
    cadence: float | None
    length: int | None
    done: float | None


def schedules(run: Run) -> tuple[ScheduleRow, ...]:
    """Return a row for each scheduler of a run, in order of appearance."""
    return tuple(_row(run, record) for record in run.of(ScheduleRecord))


def _row(run: Run, record: ScheduleRecord) -> ScheduleRow:
    steps, counts = run.series("schedule_steps", name=record.name) if record.stepped else ([], [])
    num_steps = int(counts[-1]) if counts else 0
    gaps = [after - before for before, after in itertools.pairwise(steps)]
    length = _length(record.settings)
    return ScheduleRow(
        record=record,
        num_steps=num_steps,
        cadence=float(statistics.median(gaps)) if gaps else None,
        length=length,
        done=_reached(run, record, num_steps) / length if length else None,
    )


def _reached(run: Run, record: ScheduleRecord, num_steps: int) -> int:
    """Return the number of the last step of a schedule: after an interruption another one goes on with its state."""
    following = [
        each.began for each in run.of(ScheduleRecord) if each.built == record.built and each.name == record.name
    ]
    return num_steps + max(following, default=record.began)


def _length(settings: Mapping[str, float]) -> int | None:
    return next((int(settings[name]) for name in LENGTHS if settings.get(name)), None)
