"""This file is the view of a run's snapshots: how the values of the tensors that moved most are spread."""

from collections.abc import Sequence

from torchmagic.analyses.histories import History, coarser, ends, histories
from torchmagic.records.snapshot import SnapshotKind, SnapshotRecord
from torchmagic.records.tensor import Histogram
from torchmagic.session.run import Run, Status
from torchmagic.views.page import Block, Cell, Fold, Line, Page, Plot, Table, Text

# One picture a kind of tensor, and steps in each that can still be told apart.
MOST_CURVES, MOST_BARS = 4, 24
# Of fewer values a curve shows chance.
ENOUGH = 64
MOST_ROWS = 40
BEFORE = ("least at first", "median at first", "greatest at first")
AFTER = ("least at last", "median at last", "greatest at last")
PLURAL = {SnapshotKind.WEIGHT: "weights", SnapshotKind.GRADIENT: "gradients", SnapshotKind.ACTIVATION: "outputs"}


def snapshots_page(run: Run) -> Page:
    """Return, once a run is over, the spread of the tensors that moved most, one of a kind, and all in a fold."""
    # the looks become ever rarer, so that they can wait for the end
    rows = histories(run) if run.status is not Status.RUNNING else []
    if not rows:
        return Page(title="Snapshots", blocks=[])
    most = [next((row for row in rows if row.what is kind and _is_large(row)), None) for kind in SnapshotKind]
    chosen = [row for row in most if row is not None]
    blocks: list[Block] = [Text(text=_lead(rows)), *map(_plot, chosen)]
    blocks.append(Fold(title="All tensors, those that moved most first", blocks=[_table(rows[:MOST_ROWS])]))
    return Page(title="Snapshots", blocks=blocks, folded=True)


def _is_large(row: History) -> bool:
    first = row.snapshots[0].histogram
    return first is not None and sum(first.counts) >= ENOUGH


def _lead(rows: Sequence[History]) -> str:
    """Say how far values moved; ``rows`` begin with the one that moved most."""
    most = f"{PLURAL[rows[0].what]} of {rows[0].subject}, by {rows[0].moved:.2g} times the width of their first spread"
    return f"How values are spread, tensors: {len(rows)}. Moved most: {most}."


def _plot(row: History) -> Plot:
    lines = [_line(record) for record in _spread(row.snapshots)]
    return Plot(title=f"{PLURAL[row.what]} of {row.subject}", lines=lines, x_label="value", y_label="density")


def _spread(snapshots: Sequence[SnapshotRecord]) -> list[SnapshotRecord]:
    """Return at most so many snapshots, the first and the last among them."""
    if len(snapshots) <= MOST_CURVES:
        return list(snapshots)
    last = len(snapshots) - 1
    return [snapshots[round(i * last / (MOST_CURVES - 1))] for i in range(MOST_CURVES)]


def _line(record: SnapshotRecord) -> Line:
    """Draw a histogram as a curve that begins and ends at zero."""
    bars = coarser(record.histogram or Histogram(edges=(), counts=()), MOST_BARS)
    total = sum(bars.counts) or 1
    steps, values = list(bars.edges[:1]), [0.0]
    for left, right, count in zip(bars.edges, bars.edges[1:], bars.counts, strict=False):
        steps.append((left + right) / 2)
        values.append(count / total / (right - left) if right > left else 0.0)
    return Line(name=f"step {record.step}", steps=[*steps, *bars.edges[-1:]], values=[*values, 0.0])


def _table(rows: Sequence[History]) -> Table:
    cells: list[list[Cell]] = []
    for row in rows:
        first, last = (record.histogram for record in (row.snapshots[0], row.snapshots[-1]))
        if first is not None and last is not None:
            cells.append([row.subject, row.what.value, row.moved, row.snapshots[-1].step, *ends(first), *ends(last)])
    columns = ("tensor", "of", "moved", "last step", *BEFORE, *AFTER)
    return Table(columns=columns, rows=cells)
