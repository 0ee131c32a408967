"""This file is the relative updates: how far steps moved each parameter group, against the length of its weights."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from torchmagic.records.objective import GroupRecord
from torchmagic.session.run import Run

# Root mean square below which weights count as begun at zero: initialisations are far above it.
NEAR_ZERO = 1e-3


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupUpdates:
    """The updates of one parameter group.

    Args:
        group: The group.
        steps: Steps at which both updates and weights are known.
        ratios: Length of the update over the length of the weights before it.
        lengths: Length of the weights.
        from_zero: Whether the weights began at nearly zero.
        last: Length of the weights as the run ended; NaN where that is not known.
    """

    group: GroupRecord
    steps: NDArray[np.int64]
    ratios: NDArray[np.float64]
    lengths: NDArray[np.float64]
    from_zero: bool
    last: float = math.nan


class _Table(NamedTuple):
    """A metric of all parameters: a row a step, in rising order, a column a parameter; NaN where it has no value."""

    steps: NDArray[np.int64]
    columns: Mapping[str, int]
    values: NDArray[np.float64]

    def of(self, names: Sequence[str]) -> NDArray[np.float64]:
        """Return the columns of some parameters."""
        return self.values[:, [self.columns[name] for name in names]]


def group_updates(run: Run) -> list[GroupUpdates]:
    """Return the updates of each parameter group that was measured; one whose parameters come again is told once."""
    ratios, lengths = _table(run, "update_ratio"), _table(run, "weight_norm")
    if not len(ratios.steps) or not len(lengths.steps):
        return []
    at_end = _table(run, "weight_norm_at_end")
    last = {name: value for row in at_end.values.tolist() for name, value in zip(at_end.columns, row, strict=True)}
    found = []
    for group in {(each.subject, each.parameters): each for each in run.of(GroupRecord)}.values():
        steps, moved, length = _totals(group, ratios, lengths)
        if len(steps):
            found.append(
                GroupUpdates(
                    group=group,
                    steps=steps,
                    ratios=moved / length,
                    lengths=length,
                    from_zero=float(length[0]) / math.sqrt(max(group.num_elements, 1)) < NEAR_ZERO,
                    last=math.hypot(*(last.get(name, math.nan) for name in group.parameters)),
                )
            )
    return found


def _totals(
    group: GroupRecord, ratios: _Table, lengths: _Table
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """Return steps, lengths of the group's updates, and those of its weights, as last measured before each."""
    names = [name for name in group.parameters if name in ratios.columns and name in lengths.columns]
    before = np.maximum(np.searchsorted(lengths.steps, ratios.steps, side="right") - 1, 0)
    ratio, length = ratios.of(names), lengths.of(names)[before]
    known = np.isfinite(ratio) & np.isfinite(length)
    total = np.linalg.norm(np.where(known, length, 0.0), axis=1)
    moved = np.linalg.norm(np.where(known, ratio, 0.0) * np.where(known, length, 0.0), axis=1)
    there = total > 0
    return ratios.steps[there], moved[there], total[there]


def _table(run: Run, metric: str) -> _Table:
    """Return a metric of all parameters; of what was measured twice in a step, the later."""
    frames = [(frame.subjects, *frame.table()) for frame in run.frames if frame.metric == metric]
    columns: dict[str, int] = {}
    for subjects, _, _ in frames:
        for subject in subjects:
            columns.setdefault(subject, len(columns))
    steps = np.unique(np.concatenate([steps for _, steps, _ in frames])) if frames else np.empty(0, dtype=np.int64)
    found = np.full((len(steps), len(columns)), math.nan)
    for subjects, own, values in frames:
        found[np.searchsorted(steps, own)[:, np.newaxis], [columns[subject] for subject in subjects]] = values
    return _Table(steps, columns, found)
