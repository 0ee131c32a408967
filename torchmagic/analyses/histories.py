"""This file is the histories of tensors: how far the spread of their values moved from first to last snapshot."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from torchmagic.records.snapshot import SnapshotKind, SnapshotRecord
from torchmagic.records.tensor import Histogram
from torchmagic.session.run import Run

# Where two spreads are compared: even shares, without the outermost values, which say little of the others.
SHARES = np.linspace(0.02, 0.98, 25)
ENDS = (0.0, 0.5, 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """The snapshots of one tensor.

    Args:
        what: What they are of.
        subject: Name of the parameter, or path of the module.
        snapshots: Those that have a histogram, in order of step.
        moved: Mean distance of the last one's quantiles from the first one's, as a share of the first one's width.
    """

    what: SnapshotKind
    subject: str
    snapshots: Sequence[SnapshotRecord]
    moved: float


def histories(run: Run) -> list[History]:
    """Return the histories of tensors that were seen at least twice, those that moved most first."""
    found: dict[tuple[SnapshotKind, str], list[SnapshotRecord]] = {}
    for record in run.of(SnapshotRecord):
        if record.histogram is not None and any(record.histogram.counts):
            found.setdefault((record.what, record.subject), []).append(record)
    rows = [
        History(what=what, subject=subject, snapshots=records, moved=_moved(records))
        for (what, subject), records in found.items()
        if len(records) > 1
    ]
    return sorted(rows, key=lambda row: -row.moved)


def ends(histogram: Histogram) -> list[float]:
    """Return the least value of a histogram, its median, as if values lay evenly within a bar, and the greatest."""
    return [float(value) for value in _quantiles(histogram, np.asarray(ENDS))]


def coarser(histogram: Histogram, most: int) -> Histogram:
    """Return a histogram with neighbouring bars put together until there are at most so many."""
    every = -(-len(histogram.counts) // most) if histogram.counts else 1
    places = range(0, len(histogram.counts), every)
    counts = tuple(sum(histogram.counts[place : place + every]) for place in places)
    edges = (*(histogram.edges[place] for place in places), *histogram.edges[-1:])
    return Histogram(edges=edges, counts=counts, num_sampled=histogram.num_sampled)


def _moved(records: Sequence[SnapshotRecord]) -> float:
    first, last = records[0].histogram, records[-1].histogram
    if first is None or last is None:
        return 0.0
    before, after = _quantiles(first, SHARES), _quantiles(last, SHARES)
    width = float(before[-1] - before[0]) or 1.0
    return float(np.abs(after - before).mean()) / width


def _quantiles(histogram: Histogram, shares: NDArray[np.float64]) -> NDArray[np.float64]:
    below = np.concatenate([[0.0], np.cumsum(np.asarray(histogram.counts, dtype=np.float64))])
    edges = np.asarray(histogram.edges, dtype=np.float64)
    return np.asarray(np.interp(shares, below / below[-1], edges), dtype=np.float64)
