"""This file is the page of a profile's accelerator: its kernels, when it had nothing to do, its streams and memory."""

from collections.abc import Iterator

from torchmagic.analyses.profile_window import Window, profile_window
from torchmagic.records.accelerator import AcceleratorRecord, MemorySegments
from torchmagic.session.run import Run
from torchmagic.views.numbers import as_share
from torchmagic.views.page import Block, Cell, Facts, Page, Table, Text
from torchmagic.views.profile_words import (
    PHASE_NAMES,
    as_size,
    as_time,
    in_unit,
    per_step,
    percent,
    place_name,
    time_unit,
)


def profile_device_page(run: Run) -> Page:
    """Return what ran on the accelerator; a page without blocks where nothing did."""
    window, found = profile_window(run), run.of(AcceleratorRecord)
    blocks = list(_blocks(window, found[-1])) if window is not None and found else []
    return Page(title="Device", blocks=blocks)


def _blocks(window: Window, found: AcceleratorRecord) -> Iterator[Block]:
    idle = as_share(window.share(found.idle))
    yield Text(
        text=f"Kernels run in {as_share(window.share(found.busy))} of the time; between them, {idle} of the time, "
        "the device waits for the next to be launched.",
        strong=True,
    )
    yield Facts(rows=_facts(window, found))
    yield _kernels(window, found)
    if found.gaps:
        yield _gaps(window, found)
    if len(found.streams) > 1:
        yield _streams(window, found)


def _facts(window: Window, found: AcceleratorRecord) -> list[tuple[str, str]]:
    kernels = f"{window.per_step(found.kernels):,.0f} {per_step(window)}"
    rows = [
        (
            "kernels and copies",
            f"{kernels}, {as_share(found.short / max(1, found.kernels))} of them shorter than 10 µs",
        ),
        ("several streams at once", as_time(found.together) if found.together else ""),
        ("memory at the end", _memory(found.memory) if found.memory is not None else ""),
    ]
    return [(name, value) for name, value in rows if value]


def _memory(memory: MemorySegments) -> str:
    pieces = "1 piece" if memory.segments == 1 else f"{memory.segments:,} pieces"
    free = f"; the largest free part has {as_size(memory.largest_free)}" if memory.largest_free else ""
    waiting = f", {as_size(memory.freed)} wait to be freed" if memory.freed else ""
    return f"{as_size(memory.reserved)} reserved in {pieces}, {as_size(memory.allocated)} of it in use{waiting}{free}"


def _kernels(window: Window, found: AcceleratorRecord) -> Table:
    size, unit = time_unit(window.per_step(each.seconds) for each in found.dearest)
    rows: list[tuple[Cell, ...]] = [
        (
            each.name,
            each.operator,
            round(window.per_step(each.calls), 1),
            in_unit(window.per_step(each.seconds), size),
            percent(window.share(each.seconds)),
        )
        for each in found.dearest
    ]
    columns = ("kernel", "launched by", f"calls {per_step(window)}", f"{unit} {per_step(window)}", "of all time %")
    return Table(title="Dearest kernels", columns=columns, rows=rows)


def _gaps(window: Window, found: AcceleratorRecord) -> Table:
    size, unit = time_unit(each.longest for each in found.gaps)
    rows: list[tuple[Cell, ...]] = [
        (
            place_name(window, each.place) if each.place is not None else "",
            each.place.source if each.place is not None else "",
            PHASE_NAMES.get(each.phase, each.phase),
            each.count,
            percent(window.share(each.seconds)),
            in_unit(each.longest, size),
        )
        for each in found.gaps
    ]
    columns = ("line", "source", "phase", "gaps", "of all time %", f"longest {unit}")
    return Table(title="Lines for which the device waited", columns=columns, rows=rows)


def _streams(window: Window, found: AcceleratorRecord) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (each.stream, each.kernels, percent(window.share(each.seconds))) for each in found.streams
    ]
    return Table(title="Streams", columns=("stream", "kernels and copies", "of all time %"), rows=rows)
