"""This file is the parameter difference: how far weights, gradients and updates of two runs lie apart at their ends."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from torchmagic.records.model import ParameterRecord
from torchmagic.session.ends import latest
from torchmagic.session.run import Run

# A gradient or an update is told by the median of so many last rows: one batch may be a lucky one.
LAST_ROWS = 8
# Norms are summed in single precision, and not always in one order: a smaller relative difference is none.
ROUNDING = 1e-5
METRICS = ("weight_norm", "grad_norm", "update_ratio")


@dataclass(frozen=True, slots=True, kw_only=True)
class ParameterChange:
    """One parameter that two runs have.

    Args:
        name: Its name.
        shapes: Its shape in the one run and in the other.
        values: For each metric of ``METRICS`` that both know, its value in the one run and in the other.
    """

    name: str
    shapes: tuple[tuple[int, ...], tuple[int, ...]]
    values: Mapping[str, tuple[float, float]]

    @property
    def largest(self) -> float:
        """The largest of its relative changes, of whatever sign; infinite where one run has a value and the other 0."""
        return max((_size(*pair) for pair in self.values.values()), default=0.0)


def parameter_changes(run: Run, other: Run) -> list[ParameterChange]:
    """Return the parameters of both runs, those that changed most first; those that are equal are left out."""
    ours, theirs = _final_values(run, other), _final_values(other, run)
    shapes, other_shapes = parameter_shapes(run), parameter_shapes(other)
    changes = [
        ParameterChange(
            name=name,
            shapes=(shapes[name], other_shapes[name]),
            values={
                metric: (ours[metric][name], theirs[metric][name])
                for metric in METRICS
                if name in ours[metric] and name in theirs[metric]
            },
        )
        for name in shapes
        if name in other_shapes
    ]
    moved = [change for change in changes if change.largest > ROUNDING or change.shapes[0] != change.shapes[1]]
    return sorted(moved, key=lambda change: -change.largest)


def parameter_shapes(run: Run) -> dict[str, tuple[int, ...]]:
    """Return the shape of each parameter by its name, in order of appearance."""
    return {record.name: tuple(record.shape) for record in run.of(ParameterRecord)}


def _size(before: float, after: float) -> float:
    """Return how large a change is: halving counts as much as doubling."""
    change = _relative_change(before, after)
    if math.isnan(change):
        return math.inf
    if before and after and math.isfinite(change) and before * after > 0:
        return abs(math.log(after / before))
    return math.inf if change else 0.0


def _relative_change(before: float, after: float) -> float:
    """Return by which share of itself a value changed; infinite where it was zero, NaN where either is not finite."""
    if not (math.isfinite(before) and math.isfinite(after)):
        return 0.0 if before == after or (math.isnan(before) and math.isnan(after)) else math.nan
    if before == 0:
        return 0.0 if after == 0 else math.copysign(math.inf, after)
    return (after - before) / abs(before)


def _final_values(run: Run, other: Run) -> dict[str, dict[str, float]]:
    """Return each metric's value at the end of the run, by parameter: weights as they are, the others smoothed."""
    weights = latest(run, "weight_norm") | latest(run, "weight_norm_at_end")
    return {"weight_norm": weights} | {metric: _typical(run, other, metric) for metric in METRICS[1:]}


def _typical(run: Run, other: Run, metric: str) -> dict[str, float]:
    """Return each subject's median over the last rows; of runs of one length over late steps that both looked at."""
    alike = [frame for frame in other.frames if frame.metric == metric and any(frame.subjects)]
    theirs = {step for frame in alike for step, _ in frame.rows()}
    found: dict[str, float] = {}
    for frame in run.frames:
        rows = list(frame.rows()) if frame.metric == metric else []
        late = [row for row in rows if row[0] >= run.steps / 2]
        shared = [row for row in late if row[0] in theirs] if run.steps == other.steps else []
        last = [values for _, values in (shared or rows)[-LAST_ROWS:]]
        if last:
            middle = np.median(np.asarray(last, dtype=np.float64), axis=0)
            found |= {name: float(value) for name, value in zip(frame.subjects, middle, strict=True) if name}
    return found
