"""This file is the view of one metric: its curves in one or many runs, for the whole run or parameter by parameter."""

import math
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase

from torchmagic.analyses.columns import ENOUGH, is_wide
from torchmagic.session.run import Run
from torchmagic.views import curves
from torchmagic.views.page import Block, Cell, Line, Page, Plot, Table, Text, Trend
from torchmagic.views.run_names import labels, run_names
from torchmagic.views.skins.line_summary import line_summary

# More curves than these cannot be told apart in one picture.
MOST_LINES = 12
MOST_ROWS = 200
MOST_LISTED = 30


def metric_page(runs: Sequence[Run], metric: str, *, parameter: str = "") -> Page:
    """Return a metric's curves on shared axes, and a row for each.

    Args:
        runs: One run or more.
        metric: Name of the metric, such as ``loss`` or ``grad_norm``.
        parameter: Names of parameters or modules, ``*`` standing for any letters; empty takes the metric of the whole
            run where there is one, else all.

    Raises:
        ValueError: If no run has the metric, or a subject of that name; the message names the nearest and lists all.
    """
    names = run_names(runs) if parameter else labels(runs)
    found = [(run, name, _subjects(run, metric, parameter)) for run, name in zip(runs, names, strict=True)]
    if not any(subjects for *_, subjects in found):
        raise ValueError(_unknown(runs, metric, parameter))
    lines = [line for each in found for line in _lines(*each, metric=metric, alone=len(runs) == 1)]
    told = []
    if len(lines) > MOST_LINES:
        narrower = "take fewer runs, or " if len(runs) > 1 else ""
        told.append(
            f"{MOST_LINES} of {len(lines)} curves are drawn, the table has them all; {narrower}name fewer parameters."
        )
    what = f"{metric} of {parameter}" if parameter else metric
    told += [f"{name} has no {what}." for _, name, subjects in found if not subjects]
    blocks: list[Block] = [Text(text=" ".join(told))] if told else []
    drawn = _evenly(lines)
    blocks.append(Plot(title=parameter or "over steps", lines=drawn, log=curves.is_wide(drawn)))
    return Page(title=metric, blocks=[*blocks, _table(lines[:MOST_ROWS], parameter)])


def _subjects(run: Run, metric: str, parameter: str) -> list[str]:
    """Return the subjects asked for that have values; the empty one is the whole run."""
    names = run.subjects(metric)
    if parameter:
        return [name for name in names if fnmatchcase(name, parameter)]
    return [""] if _has_whole(run, metric) else list(names)


def _has_whole(run: Run, metric: str) -> bool:
    return any(frame.metric == metric and "" in frame.subjects and len(frame) for frame in run.frames)


def _lines(run: Run, label: str, subjects: Sequence[str], *, metric: str, alone: bool) -> Iterator[Line]:
    for subject in subjects:
        steps, values = run.series(metric, name=subject)
        name = subject if alone else f"{label}, {subject}" if len(subjects) > 1 else label
        yield Line(name=name or label, steps=steps, values=values)


def _evenly(lines: Sequence[Line]) -> list[Line]:
    """Return at most so many lines, from first to last: those of a deep model's ends and of what is between."""
    if len(lines) <= MOST_LINES:
        return list(lines)
    return [lines[round(i * (len(lines) - 1) / (MOST_LINES - 1))] for i in range(MOST_LINES)]


def _table(lines: Sequence[Line], parameter: str) -> Table:
    rows: list[list[Cell]] = []
    marked = set()
    for place, line in enumerate(lines):
        values = list(line.values)
        trend = Trend(values=values, log=is_wide(values)) if len(values) >= ENOUGH else None
        found = line_summary(line)
        rows.append([line.name, trend, found.first, found.last, found.low, found.high, len(values)])
        if not all(map(math.isfinite, values)):
            marked.add(place)
    columns = ("parameter" if parameter else "curve", "over steps", "first", "last", "least", "greatest", "values")
    return Table(columns=columns, rows=rows, marked=frozenset(marked))


def _unknown(runs: Sequence[Run], metric: str, parameter: str) -> str:
    metrics = sorted({frame.metric for run in runs for frame in run.frames if len(frame)})
    if not metrics:
        return f"metric: {metric!r} was not recorded, nor was any other: nothing was trained in these runs"
    if metric not in metrics:
        return f"metric: {metric!r} was not recorded in these runs{_hint(metric, metrics)}"
    names = dict.fromkeys(name for run in runs for name in run.subjects(metric))
    if not names:
        return f"parameter: {metric} is one number for the whole run; leave out {parameter!r}"
    return f"parameter: {parameter!r} is none of those that {metric} was recorded for{_hint(parameter, names)}"


def _hint(word: str, known: Iterable[str]) -> str:
    names = list(known)
    nearest = get_close_matches(word, names, n=1, cutoff=0.4)
    hint = f"; did you mean {nearest[0]!r}?" if nearest else "."
    more = f" and {len(names) - MOST_LISTED} more" if len(names) > MOST_LISTED else ""
    return f"{hint} Known: {', '.join(names[:MOST_LISTED])}{more}"
