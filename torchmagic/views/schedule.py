"""This file is the view of a run's learning rates: their curves, and what each scheduler did."""

from collections.abc import Iterator, Sequence

from torchmagic.analyses.schedules import ScheduleRow, schedules
from torchmagic.records.schedule import ScheduleRecord
from torchmagic.session.run import Run
from torchmagic.views.numbers import as_number, as_share
from torchmagic.views.page import Block, Facts, Line, Plot

MOST_SETTINGS = 4
WIDE = 100.0


def schedule_blocks(run: Run) -> list[Block]:
    """Return the learning rate of each group and each scheduler's course; nothing where no rate changed."""
    lines = [held(name, *run.series("lr", name=name), run.steps) for name in run.subjects("lr")]
    moves = any(len(set(line.values)) > 1 for line in lines)
    blocks: list[Block] = []
    if moves:
        rates = [value for line in lines for value in line.values]
        wide = min(rates) > 0 and max(rates) > WIDE * min(rates)
        blocks.append(Plot(title="learning rate", lines=lines, log=wide))
    facts = [(row.record.name, "; ".join(_told(row))) for row in schedules(run)]
    if facts:
        blocks.append(Facts(rows=facts))
    return blocks


def held(name: str, steps: Sequence[int], rates: Sequence[float], num_steps: int) -> Line:
    """Return a rate as stairs: it holds until the next one is written down, and the last one to the end."""
    stairs: list[tuple[int, float]] = []
    for step, rate in zip(steps, rates, strict=True):
        if stairs and step > stairs[-1][0] + 1 and rate != stairs[-1][1]:
            stairs.append((step - 1, stairs[-1][1]))
        stairs.append((step, rate))
    if stairs and num_steps - 1 > stairs[-1][0]:
        stairs.append((num_steps - 1, stairs[-1][1]))
    return Line(name=name, steps=[step for step, _ in stairs], values=[rate for _, rate in stairs])


def _told(row: ScheduleRow) -> Iterator[str]:
    yield f"{_class(row.record)} of {row.record.optimizer}"
    if not row.record.stepped:
        yield "never stepped"
        return
    times = "once" if row.num_steps == 1 else f"{row.num_steps} times"
    pace = "" if row.cadence is None else f", every {_every(row.cadence)}"
    yield f"stepped {times}{pace}"
    if row.done is not None:
        yield f"{as_share(row.done)} of its course of {row.length}"


def _class(record: ScheduleRecord) -> str:
    settings = list(record.settings.items())[:MOST_SETTINGS]
    inside = [f"{name} {as_number(value)}" for name, value in settings] + list(record.parts)
    return f"{record.class_name} ({', '.join(inside)})" if inside else record.class_name


def _every(steps: float) -> str:
    return "optimizer step" if steps == 1 else f"{as_number(steps)} optimizer steps"
