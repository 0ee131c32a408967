"""This file is the columns of a run: of each subject of a metric its course over the steps."""

import math
from collections import Counter

import numpy as np
from numpy.typing import NDArray

from torchmagic.session.run import Run

# A course of fewer values is told by its latest and its greatest.
ENOUGH = 4
# As many stretches as a small drawing has characters.
WIDTH = 12
# Courses that span more than this factor are read by their logarithm.
WIDE = 100.0

Piece = tuple[NDArray[np.int64], NDArray[np.float64]]


def courses(run: Run, metric: str, *, width: int = WIDTH) -> dict[str, list[float]]:
    """Return each subject's values over the steps, the greatest of each stretch.

    Args:
        run: A run.
        metric: Name of the metric.
        width: Most stretches; NaN or infinity stands for one in which any value is not finite.
    """
    frames = [frame for frame in run.frames if frame.metric == metric and len(frame)]
    seen = Counter(subject for frame in frames for subject in frame.subjects)
    found: dict[str, list[float]] = {}
    pieces: dict[str, list[Piece]] = {}
    for frame in frames:
        rows = list(frame.rows())
        steps = np.array([step for step, _ in rows], dtype=np.int64)
        values = np.array([row for _, row in rows], dtype=np.float64)
        # all columns at once: one after the other is ten times slower for hundreds of parameters
        short = _shortened(values, width).T.tolist()
        for i, subject in enumerate(frame.subjects):
            found[subject] = short[i]
            if seen[subject] > 1:
                pieces.setdefault(subject, []).append((steps, values[:, i]))
    return found | {subject: _joined(parts, width) for subject, parts in pieces.items()}


def is_wide(values: list[float]) -> bool:
    """Return whether values are all above zero and lie so far apart that only their logarithms can be drawn."""
    finite = [value for value in values if math.isfinite(value)]
    return bool(finite) and min(finite) > 0 and max(finite) > WIDE * min(finite)


def _joined(pieces: list[Piece], width: int) -> list[float]:
    """Return the course of a subject that several frames have."""
    steps, values = (np.concatenate(parts) for parts in zip(*pieces, strict=True))
    ordered = values[np.argsort(steps, kind="stable")]
    return [float(value) for value in _shortened(ordered, width)]


def _shortened(values: NDArray[np.float64], width: int) -> NDArray[np.float64]:
    """Return the maximum of each stretch of rows, which is NaN where one of its values is."""
    if len(values) <= width:
        return values
    return np.maximum.reduceat(values, np.arange(width) * len(values) // width, axis=0)
