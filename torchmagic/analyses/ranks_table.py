"""This file is the ranks in a table: for each of them its pace, what it waited for, and how far it came."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from torchmagic.analyses.ranks_courses import course_of
from torchmagic.analyses.ranks_waits import Waits
from torchmagic.analyses.time_split import PHASES
from torchmagic.records.ranks import RankRecord
from torchmagic.session.ranked import Ranks
from torchmagic.session.run import Run
from torchmagic.session.status import Status

# A rank is an outlier where it is so many times as far from the median as half of the ranks are, and by this share.
FAR, FAR_SHARE = 6.0, 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class RankRow:
    """What is told of one rank; NaN stands for what was not measured.

    Args:
        rank: Which.
        host: Its machine; empty where it told none.
        status: How its run stands or ended.
        steps: Optimizer steps.
        step_seconds: Median of its steps' time.
        data_seconds: Median of what a step waited for data.
        own_seconds: Median of a step's time without that, and without what it usually waits for other ranks.
        wait_seconds: Median of what a step waited for other ranks, measured or estimated.
        loss: Its latest.
        grad_norm: Its latest.
    """

    rank: int
    host: str
    status: Status
    steps: int
    step_seconds: float
    data_seconds: float
    own_seconds: float
    wait_seconds: float
    loss: float
    grad_norm: float


LEARNT = ("loss", "grad_norm")
NUMBERS = ("step_seconds", "data_seconds", "own_seconds", "wait_seconds", "loss", "grad_norm", "steps")


def rank_rows(ranks: Ranks, found: Waits | None) -> list[RankRow]:
    """Return one row a rank, in order of rank.

    Args:
        ranks: The ranks.
        found: How long they waited for each other, where that is known.
    """
    usual = {} if found is None else dict(zip(found.waited.ranks, np.median(found.waited.values, axis=1), strict=True))
    return [_row(rank, run, float(usual.get(rank, math.nan))) for rank, run in ranks.runs.items()]


def outliers(rows: Sequence[RankRow]) -> dict[int, tuple[str, ...]]:
    """Return the ranks that stand out, with the numbers in which they do, those that stand out most first."""
    found: dict[int, list[str]] = {}
    distance: dict[int, float] = {}
    for name in NUMBERS:
        for rank, far in _far(rows, name):
            found.setdefault(rank, []).append(name)
            distance[rank] = max(distance.get(rank, 0.0), far)
    for row in rows:
        if row.status not in (Status.OK, Status.RUNNING) and len({each.status for each in rows}) > 1:
            found.setdefault(row.rank, []).insert(0, "status")
            distance[row.rank] = math.inf
    return {rank: tuple(found[rank]) for rank in sorted(found, key=lambda rank: (-distance[rank], rank))}


def spread(rows: Sequence[RankRow], name: str) -> Mapping[str, float]:
    """Return least, quarter, median, three quarters and greatest of a number, and the ranks that have the ends.

    Empty where no rank has a finite value.
    """
    known = [(float(getattr(row, name)), row.rank) for row in rows if math.isfinite(getattr(row, name))]
    if not known:
        return {}
    low, quarter, middle, three, high = np.quantile([value for value, _ in known], (0, 0.25, 0.5, 0.75, 1))
    return {
        "least": low,
        "quarter": quarter,
        "median": middle,
        "three quarters": three,
        "most": high,
        "least of rank": min(known)[1],
        "most of rank": max(known)[1],
    }


def _row(rank: int, run: Run, wait: float) -> RankRow:
    who = next(iter(run.of(RankRecord)), None)
    steps, phases = course_of(run, "seconds", PHASES)
    phases = phases[:, steps < run.steps]
    whole, data, length = phases.sum(axis=0), phases[0], phases.shape[1]
    return RankRow(
        rank=rank,
        host=who.host if who is not None else "",
        status=run.status,
        steps=run.steps,
        step_seconds=float(np.median(whole)) if length else math.nan,
        data_seconds=float(np.median(data)) if length else math.nan,
        own_seconds=float(np.median(whole - data)) - (0.0 if math.isnan(wait) else wait) if length else math.nan,
        wait_seconds=wait,
        loss=_latest(run, "loss"),
        grad_norm=_latest(run, "grad_norm"),
    )


def _latest(run: Run, metric: str) -> float:
    frames = [frame for frame in run.frames if frame.metric == metric and "" in frame.subjects]
    frames = frames or [frame for frame in run.frames if frame.metric == metric]
    last = [row for frame in frames if (row := frame.last()) is not None]
    return float(max(last, key=lambda row: row[0])[1][0]) if last else math.nan


def _far(rows: Sequence[RankRow], name: str) -> Iterator[tuple[int, float]]:
    """Yield the ranks whose number is far from the others', and how far; a loss that is not finite is farthest."""
    values = np.array([float(getattr(row, name)) for row in rows])
    finite = values[np.isfinite(values)]
    for row, value in zip(rows, values, strict=True):
        if len(finite) and not math.isfinite(value) and name in LEARNT and row.steps:
            yield row.rank, math.inf
    if len(finite) < len((0, 1, 2)):
        return
    middle = float(np.median(finite))
    usual = float(np.median(np.abs(finite - middle)))
    least = max(FAR * usual, FAR_SHARE * abs(middle))
    for row, value in zip(rows, values, strict=True):
        if math.isfinite(value) and abs(value - middle) > least:
            yield row.rank, abs(value - middle) / least if least else 1.0
