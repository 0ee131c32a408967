"""This file is the page of a profile that is read first: where a step's time went, and what was dearest."""

from collections.abc import Iterator
from math import fsum

from torchmagic.analyses.profile_window import Window, phase_seconds, profile_window
from torchmagic.session.run import Run
from torchmagic.views.numbers import as_share
from torchmagic.views.page import Block, Cell, Facts, Page, Shares, Table, Text
from torchmagic.views.profile_facts import profile_facts
from torchmagic.views.profile_words import (
    PHASE_NAMES,
    as_time,
    in_unit,
    per_step,
    percent,
    place_name,
    three_digits,
    time_unit,
)

NUM_DEAREST = 3
# What the thread does in a phase, to stand after "38% of a step is".
DEEDS = {
    "data": "waiting for data",
    "transfer": "copying to the device",
    "forward": "the forward pass",
    "backward": "the backward pass",
    "optimizer": "the optimizer",
    "other": "code beside model, loss and optimizer",
    "idle": "waiting for something else than data",
}
CUTS = {
    "error": "The cell failed before the window was full; what follows is what came until then.",
    "interrupted": "The cell was interrupted before the window was full; what follows is what came until then.",
    "ended": "The cell ended before the window was full; what follows is all of it.",
    "full": "So much was noted down that the window was ended early.",
}


def profile_page(run: Run) -> Page:
    """Return the summary of a profile; a page without blocks where there is none."""
    window = profile_window(run)
    blocks = [] if window is None else list(_blocks(run, window))
    return Page(title="Profile", blocks=blocks)


def _blocks(run: Run, window: Window) -> Iterator[Block]:
    yield Text(text=headline(window), strong=True)
    if window.profile.cut in CUTS:
        yield Text(text=CUTS[window.profile.cut])
    parts = [(PHASE_NAMES[phase], three_digits(seconds)) for phase, seconds in phase_means(window).items() if seconds]
    if parts:
        whole = "a mean step of" if window.has_steps else "the time,"
        yield Shares(title=f"Where {whole} {as_time(window.seconds)} goes", parts=parts, unit="s")
    yield Facts(rows=profile_facts(run, window))
    rows = [*_lines(window), *_modules(window), *_operators(window)]
    if rows:
        yield _dearest(window, rows)
    for note in window.profile.notes:
        yield Text(text=note)


def headline(window: Window) -> str:
    """Say in one sentence what takes most of the time, and how long operators run."""
    profile = window.profile
    whole = f"a step of {as_time(window.seconds)}" if window.has_steps else f"{as_time(window.seconds)}"
    means = phase_means(window)
    runs = "kernels run" if profile.device == "cuda" else "operators run"
    busy = f"{runs} in {as_share(window.share(profile.busy))}"
    if not any(means.values()):
        return f"{runs.capitalize()} in {as_share(window.share(profile.busy))} of {whole}."
    most = max(means, key=means.__getitem__)
    return f"{as_share(means[most] / sum(means.values()))} of {whole} is {DEEDS[most]}; {busy} of it."


def phase_means(window: Window) -> dict[str, float]:
    """Return the seconds of a mean step by phase; empty where they are not known."""
    if window.phases is None:
        return {}
    return {phase: window.per_step(fsum(seconds)) for phase, seconds in phase_seconds(window.phases).items()}


Row = tuple[str, str, float]


def _dearest(window: Window, rows: list[Row]) -> Table:
    size, unit = time_unit(seconds for _, _, seconds in rows)
    title = (
        f"Dearest lines, modules and operators, {per_step(window)}, each with its backward, without those that it calls"
    )
    cells: list[tuple[Cell, ...]] = [
        (name, which, in_unit(seconds, size), percent(seconds / window.seconds if window.seconds else 0.0))
        for name, which, seconds in rows
    ]
    return Table(title=title, columns=("what", "is a", unit, "share %"), rows=cells)


def _lines(window: Window) -> list[Row]:
    found = sorted(window.costs.lines, key=lambda line: -line.caused)[:NUM_DEAREST]
    return [
        (f"{place_name(window, each.place)}  {each.place.source}".rstrip(), "line", window.per_step(each.caused))
        for each in found
        if each.caused > 0
    ]


def _modules(window: Window) -> list[Row]:
    found = sorted(window.costs.modules, key=lambda each: -(each.forward_own + each.backward_own))[:NUM_DEAREST]
    return [
        (
            f"{'.'.join(filter(None, (each.model, each.path)))}: {each.class_name}",
            "module",
            window.per_step(each.forward_own + each.backward_own),
        )
        for each in found
        if each.forward_own + each.backward_own > 0
    ]


def _operators(window: Window) -> list[Row]:
    found = sorted(window.costs.operators, key=lambda each: -each.own)[:NUM_DEAREST]
    return [
        (f"{each.name} in {PHASE_NAMES.get(each.phase, each.phase)}", "operator", window.per_step(each.own))
        for each in found
        if each.own > 0
    ]
