"""This file is the relative updates: how far steps moved each parameter group, against the length of its weights."""

import math
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

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


def group_updates(run: Run) -> list[GroupUpdates]:
    """Return the updates of each parameter group that was measured; one whose parameters come again is told once."""
    ratios, lengths = _rows(run, "update_ratio"), _rows(run, "weight_norm")
    at_end = {name: value for row in _rows(run, "weight_norm_at_end").values() for name, value in row.items()}
    if not ratios or not lengths:
        return []
    known = sorted(lengths)
    found = []
    for group in {(each.subject, each.parameters): each for each in run.of(GroupRecord)}.values():
        rows = [
            row for step in sorted(ratios) if (row := _total(group, step, ratios[step], lengths, known)) is not None
        ]
        if not rows:
            continue
        steps, moved, length = (np.asarray(column) for column in zip(*rows, strict=True))
        size = float(length[0]) / math.sqrt(max(group.num_elements, 1))
        found.append(
            GroupUpdates(
                group=group,
                steps=steps,
                ratios=moved / length,
                lengths=length,
                from_zero=size < NEAR_ZERO,
                last=math.hypot(*(at_end.get(name, math.nan) for name in group.parameters)),
            )
        )
    return found


def _total(
    group: GroupRecord,
    step: int,
    ratios: Mapping[str, float],
    lengths: Mapping[int, Mapping[str, float]],
    known: list[int],
) -> tuple[int, float, float] | None:
    """Return the step, the length of the group's update and that of its weights, as last measured before."""
    at = known[max(bisect_right(known, step) - 1, 0)]
    row = lengths[at]
    pairs = [(ratios[name], row[name]) for name in group.parameters if name in ratios and name in row]
    pairs = [(ratio, length) for ratio, length in pairs if math.isfinite(ratio) and math.isfinite(length)]
    length = math.hypot(*(each for _, each in pairs))
    if not length:
        return None
    return step, math.hypot(*(ratio * each for ratio, each in pairs)), length


def _rows(run: Run, metric: str) -> dict[int, dict[str, float]]:
    """Return each row of a metric by its step."""
    found: dict[int, dict[str, float]] = {}
    for step, row in _frames(run, metric):
        found.setdefault(step, {}).update(row)
    return found


def _frames(run: Run, metric: str) -> Iterator[tuple[int, dict[str, float]]]:
    for frame in run.frames:
        if frame.metric == metric:
            for step, values in frame.rows():
                yield step, dict(zip(frame.subjects, map(float, values), strict=True))
