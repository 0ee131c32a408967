"""This file is the page of a profile's memory: how it rose and fell, when it was highest and who held it then."""

import re
from collections.abc import Iterator

from torchmagic.analyses.profile_window import Window, profile_window
from torchmagic.records.costs import AllocationsRecord
from torchmagic.session.run import Run
from torchmagic.views.numbers import byte_unit
from torchmagic.views.page import Block, Line, Page, Plot, Shares, Table, Text
from torchmagic.views.profile_words import (
    PHASE_NAMES,
    as_size,
    as_time,
    in_unit,
    percent,
    place_name,
    three_digit_size,
    time_unit,
)

# What holds less than this of what the largest holds explains nothing.
LEAST_SHARE = 1e-3
_INDEX = re.compile(r"(?<=\.)\d+(?![^.])")
NAMES = {**PHASE_NAMES, "before": "from before", "data": "data"}
# What a phase is called after "in": the moment of the peak is in it.
MOMENTS = {
    "data": "while waiting for data",
    "transfer": "while copying to the device",
    "forward": "in the forward pass",
    "backward": "in the backward pass",
    "optimizer": "in the optimizer",
    "other": "beside model, loss and optimizer",
    "idle": "while waiting",
}


def profile_memory_page(run: Run) -> Page:
    """Return the memory over the window by the phase that allocated it, and its peak explained.

    A page without blocks stands for a run whose memory was not profiled.
    """
    window = profile_window(run)
    blocks = [] if window is None or window.allocations is None else list(_blocks(window, window.allocations))
    return Page(title="Memory", blocks=blocks)


def _blocks(window: Window, found: AllocationsRecord) -> Iterator[Block]:
    totals = [sum(each) for each in zip(*found.phases.values(), strict=False)]
    if not totals:
        return
    yield Text(text=_peak(window, found, max(totals)), strong=True)
    at = totals.index(max(totals))
    parts = [
        (NAMES.get(phase, phase), three_digit_size(values[at]))
        for phase, values in found.phases.items()
        if values[at] > 0
    ]
    if parts:
        yield Shares(title="At the peak, by the phase that allocated it", parts=parts, unit="B")
    if len(totals) > 1:
        yield _plot(found, max(totals), at)
    if found.holders:
        yield _holders(found, window.profile.peak_bytes or max(totals))


def _peak(window: Window, found: AllocationsRecord, highest: int) -> str:
    peak = as_size(window.profile.peak_bytes or highest)
    moment = MOMENTS.get(found.phase, f"in {found.phase}" if found.phase else "")
    step = f"of step {found.step:,}" if window.has_steps else ""
    when = " ".join(filter(None, (moment, step))) or f"{as_time(found.peak)} after the beginning"
    module = f" in {found.module}" if found.module else ""
    place = found.place
    line = f", at {place_name(window, place)}{f': {place.source}' if place.source else ''}" if place is not None else ""
    return f"The peak of {peak} is {when}{module}{line}"


def _plot(found: AllocationsRecord, highest: int, at: int) -> Plot:
    size, unit = byte_unit(highest)
    tick, x_label = time_unit(found.seconds)
    moments = [each / tick for each in found.seconds]
    lines = [
        Line(
            name=NAMES.get(phase, phase),
            steps=_twice(moments)[1:],
            values=_twice([each / size for each in values])[:-1],
        )
        for phase, values in found.phases.items()
        if any(values)
    ]
    marks = [(moments[at], "peak")] if at < len(moments) else []
    title = f"Memory by the phase that allocated it, {unit}"
    return Plot(title=title, lines=lines, x_label=x_label, y_label=unit, stacked=True, marks=marks)


def _twice(numbers: list[float]) -> list[float]:
    """Return each number twice: memory stays as it is up to the next moment, and then changes at once."""
    return [number for number in numbers for _ in range(2)]


def _holders(found: AllocationsRecord, peak: int) -> Table:
    alike: dict[str, list[tuple[str, int]]] = {}
    for name, number in found.holders:
        alike.setdefault(_INDEX.sub("*", name), []).append((name, number))
    held = {
        general if len(each) > 1 else each[0][0]: sum(number for _, number in each) for general, each in alike.items()
    }
    size, unit = byte_unit(max(held.values()))
    rows = [
        (name, in_unit(number, size), percent(number / peak if peak else 0.0))
        for name, number in sorted(held.items(), key=lambda each: -each[1])
        if number >= LEAST_SHARE * max(held.values())
    ]
    return Table(title="Who held it at the peak", columns=("allocated in", unit, "share %"), rows=rows)
