"""This file is the columnar series: one metric over steps, one column a subject, one append a step."""

import math
from array import array
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

# 3 million float32 cells are 12 MB: eight statistics of 300 parameters over 10,000 steps then stay near 100 MB.
MAX_CELLS = 3_000_000
# A short wide series must keep enough rows to be drawn.
MIN_ROWS = 512

Extreme = tuple[int, float]


class Frame:
    """Values of one metric for fixed subjects (parameters, modules, or one unnamed whole).

    Rows are appended in O(1). Past ``max_rows`` every other row is dropped and, from then on, only every second,
    fourth, … row is kept; the first, last, least and greatest value of each column are never lost.

    Args:
        metric: Name of the metric, such as ``grad_norm``.
        subjects: Column names, unique; ``("",)`` for a metric of the whole run.
        max_rows: Rows kept before thinning; None derives it from ``MAX_CELLS``.
    """

    __slots__ = ("_columns", "_high", "_kept", "_last", "_low", "_seen", "_steps", "_values", "max_rows", "metric", "stride", "subjects")  # noqa: E501 - one list

    def __init__(self, metric: str, subjects: Sequence[str], *, max_rows: int | None = None) -> None:
        self.metric = metric
        self.subjects = tuple(subjects)
        self.max_rows = max_rows or max(MIN_ROWS, MAX_CELLS // max(len(self.subjects), 1))
        self.stride = 1
        self._columns = {name: i for i, name in enumerate(self.subjects)}
        self._steps = array("q")
        self._values = array("d" if len(self.subjects) == 1 else "f")
        self._seen = 0
        self._kept = 0
        self._last: tuple[int, Sequence[float]] | None = None
        self._low: list[Extreme] | None = None
        self._high: list[Extreme] | None = None

    def append(self, step: int, values: Sequence[float]) -> None:
        """Add one row; ``values`` has one number per subject."""
        if self._seen % self.stride == 0:
            self._steps.append(step)
            self._values.extend(values)
            self._last = None
            if len(self._steps) > self.max_rows:
                self._thin()
        else:
            self._last = (step, values)
            self._remember(np.asarray([step]), np.asarray([values], dtype=np.float64))
        self._seen += 1

    def __len__(self) -> int:
        return self._seen

    def column(self, subject: str = "") -> tuple[list[int], list[float]]:
        """Return steps and values of one subject, in order of step; empty when the subject is unknown."""
        i = self._columns.get(subject)
        if i is None:
            return [], []
        points = list(zip(self._steps, self._values[i :: len(self.subjects)], strict=True))
        extremes = {kept[i] for kept in (self._low, self._high) if kept is not None and kept[i][0] >= 0}
        if self._last is not None:
            extremes.add((self._last[0], float(self._last[1][i])))
        points = sorted(points + list(extremes), key=lambda point: point[0]) if extremes else points
        return [step for step, _ in points], [value for _, value in points]

    def last(self) -> tuple[int, Sequence[float]] | None:
        """Return the newest row, or None."""
        if self._last is not None:
            return self._last
        if not self._steps:
            return None
        return self._steps[-1], self._values[-len(self.subjects) :]

    def greatest(self) -> dict[str, float]:
        """Return each subject's greatest value so far; NaN where there is none."""
        kept = np.frombuffer(self._values, dtype=self._values.typecode).reshape(-1, len(self.subjects))
        best = np.fmax.reduce(kept, axis=0, initial=-math.inf) if len(kept) else np.full(len(self.subjects), math.nan)
        if self._high is not None:
            best = np.fmax(best, [value for _, value in self._high])
        return dict(zip(self.subjects, map(float, best), strict=True))

    def unsaved(self) -> tuple[bytes, bytes] | None:
        """Return the rows kept since the last call as raw int64 steps and values, or None."""
        if self._kept >= len(self._steps):
            return None
        width = len(self.subjects)
        steps, values = self._steps[self._kept :], self._values[self._kept * width :]
        self._kept = len(self._steps)
        return steps.tobytes(), values.tobytes()

    def load(self, steps: bytes, values: bytes) -> None:
        """Append rows as ``unsaved`` gave them."""
        new_steps, new_values = array("q"), array(self._values.typecode)
        new_steps.frombytes(steps)
        new_values.frombytes(values)
        width = len(self.subjects)
        for row, step in enumerate(new_steps):
            self.append(step, new_values[row * width : (row + 1) * width])
        self._kept = len(self._steps)

    def rows(self) -> Iterator[tuple[int, Sequence[float]]]:
        """Yield (step, values) for every kept row."""
        width = len(self.subjects)
        for row, step in enumerate(self._steps):
            yield step, self._values[row * width : (row + 1) * width]
        if self._last is not None:
            yield self._last

    def _thin(self) -> None:
        width = len(self.subjects)
        steps = np.frombuffer(self._steps, dtype=np.int64).copy()
        values = np.frombuffer(self._values, dtype=self._values.typecode).reshape(-1, width).copy()
        self._remember(steps[1::2], values[1::2])
        self._steps = array("q", steps[::2].tobytes())
        self._values = array(self._values.typecode, values[::2].tobytes())
        self._kept = (self._kept + 1) // 2
        self.stride *= 2

    def _remember(self, steps: NDArray[np.int64], values: NDArray[np.floating]) -> None:
        """Keep the least and greatest value of each column among rows that are dropped."""
        self._low = _extremes(self._low, steps, values, sign=1.0)
        self._high = _extremes(self._high, steps, values, sign=-1.0)


def _extremes(
    known: list[Extreme] | None, steps: NDArray[np.int64], values: NDArray[np.floating], *, sign: float
) -> list[Extreme]:
    candidates = np.where(np.isnan(values), math.inf, sign * values)
    where = candidates.argmin(axis=0)
    best = candidates[where, np.arange(values.shape[1])]
    fresh = [(int(steps[row]), float(sign * value)) if value < math.inf else (-1, math.nan) for row, value in zip(where, best, strict=True)]  # noqa: E501 - one expression
    if known is None:
        return fresh
    return [new if old[0] < 0 or sign * new[1] < sign * old[1] else old for old, new in zip(known, fresh, strict=True)]
