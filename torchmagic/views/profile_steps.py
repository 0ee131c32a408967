"""This file is the page of a profile's steps: how long each took in which phase, and which were slow by what."""

from collections.abc import Iterator

from torchmagic.analyses.profile_steps import SlowStep, slow_steps, spread
from torchmagic.analyses.profile_window import Window, phase_seconds, profile_window, step_seconds
from torchmagic.records.profile import PhasesRecord
from torchmagic.session.run import Run
from torchmagic.views.numbers import as_share
from torchmagic.views.page import Block, Cell, Line, Page, Plot, Table, Text, Trend
from torchmagic.views.profile_words import PHASE_NAMES, as_time, in_unit, percent, three_digits, time_unit

MOST_SLOW = 20
MOST_MARKS = 8


def profile_steps_page(run: Run) -> Page:
    """Return the time of each step by phase, with those marked that took much longer than the others.

    A page without blocks stands for a run without steps.
    """
    window = profile_window(run)
    blocks = [] if window is None or not window.has_steps else list(_blocks(window))
    return Page(title="Steps", blocks=blocks)


def _blocks(window: Window) -> Iterator[Block]:
    phases = window.phases
    seconds = step_seconds(phases) if phases is not None else []
    if phases is None or not seconds:
        return
    slow = slow_steps(phases)
    yield Text(text=_headline(seconds, slow), strong=True)
    size, unit = time_unit([spread(seconds).middle])
    if len(seconds) > 1:
        yield _plot(phases, slow, size, unit)
    yield _spread_table(phases, seconds, size, unit)
    if slow:
        yield _slow_table(slow, size, unit)
    if len(slow) > MOST_SLOW:
        yield Text(text=f"{len(slow) - MOST_SLOW} more steps were slow.")


def _headline(seconds: list[float], slow: list[SlowStep]) -> str:
    found = spread(seconds)
    if len(seconds) == 1:
        return f"One step was profiled; it took {as_time(found.middle)}."
    usual = f"A usual step takes {as_time(found.middle)}, half of them {as_time(found.low)} to {as_time(found.high)}"
    if not slow:
        return f"{usual}; none of {len(seconds):,} stands out."
    worst = max(slow, key=lambda each: each.excess)
    lost = sum(each.excess for each in slow)
    share = f"{as_share(lost / sum(seconds))} of all time"
    this = f"step {worst.step:,} took {as_time(worst.seconds)}"
    if len(slow) == 1:
        return f"{usual}; {this}, {as_time(lost)} more ({share}), by {PHASE_NAMES[worst.phase]}."
    many = f"{len(slow):,} steps were much slower, together by {as_time(lost)} ({share})"
    return f"{usual}; {many}; most of all {this}, by {PHASE_NAMES[worst.phase]}."


def _plot(phases: PhasesRecord, slow: list[SlowStep], size: float, unit: str) -> Plot:
    lines = [
        Line(name=PHASE_NAMES[phase], steps=phases.steps, values=[three_digits(each / size) for each in values])
        for phase, values in phase_seconds(phases).items()
        if any(values)
    ]
    worst = sorted(slow, key=lambda each: -each.excess)[:MOST_MARKS]
    marks = [(float(each.step), PHASE_NAMES[each.phase]) for each in sorted(worst, key=lambda each: each.step)]
    return Plot(title=f"Time per step, {unit}", lines=lines, y_label=unit, stacked=True, marks=marks)


def _spread_table(phases: PhasesRecord, seconds: list[float], size: float, unit: str) -> Table:
    found = {PHASE_NAMES[phase]: list(values) for phase, values in phase_seconds(phases).items() if any(values)}
    rows: list[list[Cell]] = []
    for name, values in [*found.items(), ("all of a step", seconds)]:
        each = spread(values)
        row: list[Cell] = [name, in_unit(each.middle, size), percent(sum(values) / sum(seconds))]
        row += [Trend(values=values) if len(values) > 1 else None, in_unit(each.most, size)]
        rows.append([*row, in_unit(each.low, size), in_unit(each.high, size)])
    columns = ("phase", f"usual {unit}", "share %", "over steps", "slowest", "a quarter below", "a quarter above")
    return Table(title="How the steps spread", columns=columns, rows=rows)


def _slow_table(slow: list[SlowStep], size: float, unit: str) -> Table:
    worst = sorted(slow, key=lambda each: -each.excess)[:MOST_SLOW]
    rows = [
        (
            f"step {each.step:,}",
            in_unit(each.seconds, size),
            in_unit(each.excess, size),
            PHASE_NAMES[each.phase],
            in_unit(each.phase_excess, size),
        )
        for each in worst
    ]
    columns = ("slow step", unit, f"{unit} above usual", "most of that in", f"{unit} above its usual")
    return Table(title="Slow steps, the slowest first", columns=columns, rows=rows)
