"""This file is the ends of a metric: of each subject its newest and its greatest value."""

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torchmagic.session.run import Run


def latest(run: "Run", metric: str) -> dict[str, float]:
    """Return each subject's newest value."""
    rows = [
        (frame.subjects, row) for frame in run.frames if frame.metric == metric and (row := frame.last()) is not None
    ]
    found: dict[str, float] = {}
    for subjects, (_, values) in sorted(rows, key=lambda each: each[1][0]):
        found |= zip(subjects, map(float, values), strict=True)
    return found


def greatest(run: "Run", metric: str) -> dict[str, float]:
    """Return each subject's greatest value; subjects that have none are left out."""
    found: dict[str, float] = {}
    for frame in run.frames:
        if frame.metric != metric:
            continue
        for name, value in frame.greatest().items():
            if not math.isnan(value) and value > found.get(name, -math.inf):
                found[name] = value
    return found
