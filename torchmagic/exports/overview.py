"""This file is the overview of several exported runs: one row a run."""

import math
from collections import Counter
from collections.abc import Sequence

from torchmagic.records.finding import Severity
from torchmagic.session.run import Run
from torchmagic.views.numbers import as_seconds
from torchmagic.views.page import Cell, Page, Table, Trend
from torchmagic.views.run_names import labels

COLUMNS = ("run", "ended", "steps", "time", "errors", "warnings", "last loss", "loss over steps")
MOST_POINTS = 60


def overview_page(runs: Sequence[Run]) -> Page:
    """Return a table with a row for each run; runs with errors are marked."""
    rows = [_row(name, run) for name, run in zip(labels(runs), runs, strict=True)]
    marked = frozenset(index for index, row in enumerate(rows) if row[COLUMNS.index("errors")])
    return Page(title="Runs", blocks=[Table(columns=COLUMNS, rows=rows, marked=marked)])


def _row(name: str, run: Run) -> tuple[Cell, ...]:
    counts = Counter(finding.severity for finding in run.findings)
    loss = next(iter(run.subjects("loss")), "")
    values = run.series("loss", name=loss)[1]
    every = max(1, math.ceil(len(values) / MOST_POINTS))
    return (
        name,
        run.status.value,
        run.steps,
        as_seconds(run.clock.seconds),
        counts[Severity.ERROR],
        counts[Severity.WARNING],
        values[-1] if values else None,
        Trend(values=values[::every]) if len(values) > 1 else None,
    )
