"""This file is the view of a run's parameters: gradients, weights and updates, one row each."""

import math
from collections.abc import Sequence
from typing import Any

from torchmagic.analyses.columns import ENOUGH, courses, is_wide
from torchmagic.analyses.counting import counted
from torchmagic.records.reach import ReachRecord
from torchmagic.session.ends import greatest
from torchmagic.session.run import Run, Status
from torchmagic.views.numbers import as_shape
from torchmagic.views.page import Block, Cell, Fold, Page, Table, Text, Trend

COLUMNS = (
    ("grad norm", "grad_norm"),
    ("highest", "grad_norm_max"),
    ("over steps", "course"),
    ("grad zeros", "grad_zero_share"),
    ("weight norm", "weight_norm"),
    ("update ratio", "update_ratio"),
)
# Columns that are shown only where one of their values is above zero.
ALARMS = (
    ("swallowed", "update_swallowed"),
    ("bad grads", "grad_nonfinite"),
    ("bad weights", "weight_nonfinite"),
)
DETAILS = (
    ("type", "dtype"),
    ("grad mean", "grad_mean"),
    ("grad std", "grad_std"),
    ("grad RMS", "grad_rms"),
    ("grad abs max", "grad_abs_max"),
    ("weight mean", "weight_mean"),
    ("weight std", "weight_std"),
    ("weight RMS", "weight_rms"),
    ("weight abs max", "weight_abs_max"),
)
SAID = {
    "swallowed": "Swallowed: share of the updates too small to change a weight of its type.",
    "bad grads": "Bad grads: most gradient values that were NaN or infinite at one step.",
    "bad weights": "Bad weights: most weights that were NaN or infinite at one step.",
}
MOST_NAMES = 6


def parameters_page(run: Run) -> Page:
    """Return the per-parameter table, and what a loss does not reach.

    Rows that a finding names, or that hold values that are not finite, are marked.
    """
    rows = _rows(run)
    blocks: list[Block] = []
    if rows:
        named = {finding.parameter for finding in run.findings}
        marked = frozenset(i for i, row in enumerate(rows) if row["name"] in named or _is_broken(row))
        # alarms come first: a narrow text leaves out columns at the right
        shown = [column for column in ALARMS if any((row[column[1]] or 0) > 0 for row in rows)]
        said = [SAID[title] for title, _ in shown]
        shown += [column for column in COLUMNS if _has(rows, column[1])]
        blocks = [Text(text=_lead(rows, shown)), _table(rows, shown, marked)]
        blocks += [Text(text=text) for text in ([" ".join(said)] if said else []) + _reach(run)]
        details = [column for column in DETAILS if _has(rows, column[1])]
        # the type alone is no statistic, and a live panel is sent whole at each refresh
        if len(details) > 1 and run.status is not Status.RUNNING:
            blocks.append(Fold(title="More statistics", blocks=[_table(rows, details, marked)]))
    return Page(title="Parameters", blocks=blocks)


def _rows(run: Run) -> list[dict[str, Any]]:
    course = courses(run, "grad_norm")
    most = {metric: greatest(run, metric) for metric in ("grad_nonfinite", "weight_nonfinite")}
    rows = run.parameters
    for row in rows:
        values = course.get(row["name"], [])
        row["course"] = Trend(values=values, log=is_wide(values)) if len(values) >= ENOUGH else None
        row |= {metric: found.get(row["name"]) for metric, found in most.items()}
    return rows


def _has(rows: Sequence[dict[str, Any]], key: str) -> bool:
    return any(row[key] is not None for row in rows)


def _table(rows: Sequence[dict[str, Any]], columns: Sequence[tuple[str, str]], marked: frozenset[int]) -> Table:
    shapes = [() if row["shape"] is None else (as_shape(row["shape"]),) for row in rows]
    has_shapes = any(shapes)
    cells: list[tuple[Cell, ...]] = [
        (row["name"], *((shape or (None,)) if has_shapes else ()), *(row[key] for _, key in columns))
        for row, shape in zip(rows, shapes, strict=True)
    ]
    titles = ("parameter", *(("shape",) if has_shapes else ()), *(title for title, _ in columns))
    return Table(columns=titles, rows=cells, marked=marked)


def _lead(rows: Sequence[dict[str, Any]], shown: Sequence[tuple[str, str]]) -> str:
    frozen = sum(not row["trainable"] for row in rows)
    told = [f"{counted(len(rows), 'parameter')}{f', {frozen} frozen' if frozen else ''}."]
    if any(key == "grad_norm" for _, key in shown):
        told.append("Values at the latest step looked at; highest gradient norm over all.")
    return " ".join(told)


def _reach(run: Run) -> list[str]:
    """Say what the newest look at each loss did not reach, and no other loss either: a GAN's halves are no news."""
    told = []
    newest = list({(each.loss, each.place): each for each in run.of(ReachRecord)}.values())
    for record in newest:
        others = [each for each in newest if each is not record and each.has_graph]
        if not record.has_graph:
            told.append(f"{record.loss} has no graph: it reaches no parameter.")
        unreached = [name for name in record.unreached if not any(_reaches(each, name) for each in others)]
        if unreached:
            names = _few(unreached, record.num_unreached - len(record.unreached) + len(unreached))
            told.append(f"{record.loss} does not reach {names} ({record.num_reached} reached).")
        untouched = [model for model in record.untouched if not any(model in each.models for each in others)]
        if untouched:
            names = _few(untouched, len(untouched))
            told.append(f"{record.loss} reaches nothing of {names}, which ran before it.")
    return list(dict.fromkeys(told))


def _reaches(record: ReachRecord, parameter: str) -> bool:
    """Return whether a loss is known to reach a parameter; where not all names were kept, it is not."""
    inside = any(parameter.startswith(f"{model}.") for model in record.models)
    return (
        inside
        and parameter not in (*record.unreached, *record.frozen)
        and len(record.unreached) == record.num_unreached
    )


def _few(names: Sequence[str], number: int) -> str:
    shown = ", ".join(names[:MOST_NAMES])
    return shown if number <= MOST_NAMES else f"{shown} and {number - MOST_NAMES} more"


def _is_broken(row: dict[str, Any]) -> bool:
    norm = row["grad_norm"]
    lost = (row["grad_nonfinite"] or 0) + (row["weight_nonfinite"] or 0)
    return lost > 0 or (norm is not None and not math.isfinite(norm))
