"""This file is the page of a profile's loaders: how long the training waited for each batch."""

import math
from collections.abc import Iterator

from torchmagic.analyses.profile_steps import spread
from torchmagic.analyses.profile_window import Window, profile_window
from torchmagic.records.costs import LoaderCost
from torchmagic.session.run import Run
from torchmagic.views.numbers import as_share
from torchmagic.views.page import Bars, Block, Cell, Page, Table, Text
from torchmagic.views.profile_words import as_time, in_unit, percent, place_name, three_digits, time_unit

_NUM_BARS = 15
# Of fewer waits a histogram says less than the table.
_LEAST_WAITS = 8


def profile_loaders_page(run: Run) -> Page:
    """Return how long each loader was waited for; a page without blocks for a run without loaders."""
    window = profile_window(run)
    blocks = [] if window is None else list(_blocks(window))
    return Page(title="Loaders", blocks=blocks)


def _blocks(window: Window) -> Iterator[Block]:
    loaders = sorted(window.costs.loaders, key=lambda each: -each.total)
    if not loaders:
        return
    yield Text(text=_headline(window, loaders[0]), strong=True)
    yield _table(window, loaders)
    for each in loaders:
        if len(each.waits) >= _LEAST_WAITS and len(each.waits) == each.batches and max(each.waits) > 0:
            yield _waits(each)


def _headline(window: Window, loader: LoaderCost) -> str:
    batches = "a batch" if loader.batches == 1 else f"{loader.batches:,} batches"
    share = as_share(window.share(loader.total))
    workers = _workers(loader)
    busy = "" if loader.busy is None else f", which computed in {as_share(loader.busy)} of it"
    return f"Waiting for {batches} of {loader.loader} took {share} of the time; {workers}{busy}."


def _workers(loader: LoaderCost) -> str:
    if not loader.workers:
        return "it loads in the process that trains"
    return "1 worker loads" if loader.workers == 1 else f"{loader.workers:,} workers load"


def _table(window: Window, loaders: list[LoaderCost]) -> Table:
    size, unit = time_unit(max(each.waits, default=0.0) for each in loaders)
    rows: list[list[Cell]] = [
        [
            each.loader,
            each.batches,
            in_unit(_usual(each), size),
            in_unit(max(each.waits, default=None), size),
            percent(window.share(each.total)),
            each.workers,
            None if each.busy is None else percent(each.busy),
            place_name(window, each.place),
        ]
        for each in loaders
    ]
    columns = (
        "loader",
        "batches",
        f"usual wait {unit}",
        f"longest {unit}",
        "of all time %",
        "workers",
        "busy %",
        "line",
    )
    known = [j for j in range(len(columns)) if any(row[j] not in (None, "") for row in rows)]
    return Table(
        title="Waits for batches", columns=[columns[j] for j in known], rows=[[row[j] for j in known] for row in rows]
    )


def _usual(loader: LoaderCost) -> float | None:
    """Return the median wait; of many batches only the longest waits are kept, and their mean stands for it."""
    if len(loader.waits) < loader.batches:
        return loader.total / loader.batches
    return spread(loader.waits).middle if loader.waits else None


def _round_width(least: float) -> float:
    """Return the next number from so much on that is 1, 2 or 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(factor * power for factor in (1.0, 2.0, 5.0, 10.0) if factor * power >= least)


def _waits(loader: LoaderCost) -> Bars:
    size, unit = time_unit([max(loader.waits)])
    waits = [each / size for each in loader.waits]
    width = _round_width(max(waits) / _NUM_BARS)
    counts = [0] * (int(max(waits) / width) + 1)
    for each in waits:
        counts[int(each / width)] += 1
    edges = [three_digits(width * i) for i in range(len(counts) + 1)]
    usual = as_time(spread(loader.waits).middle)
    return Bars(title=f"Waits for a batch of {loader.loader}, {unit} (usual {usual})", edges=edges, counts=counts)
