"""This file is the columnar series: one metric over steps, one column a subject, one append a step."""

import math
from array import array
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

# 3 million float32 cells are 12 MB: eight statistics of 300 parameters over 10,000 steps then stay near 100 MB.
MAX_CELLS = 3_000_000
# A short wide series must keep enough rows to be drawn.
MIN_ROWS = 512
# All series of a run together: 30 million cells are 120 MB. Ones of few columns are small, and keep every row longer.
MAX_CELLS_TOGETHER = 30_000_000
FEW_COLUMNS = 16
# However many series share the room, each keeps about this many rows.
MIN_ROWS_TOGETHER = 64

# A step and a value for each column; the step is -1 and the value NaN where a column has none.
Points = tuple[Sequence[int], Sequence[float]]


class Frame:
    """Values of one metric for fixed subjects (parameters, modules, or one unnamed whole).

    Rows are appended in O(1). Past ``max_rows`` every other row is dropped and, from then on, only every second,
    fourth, … row is kept; the first, last, least and greatest value of each column are never lost.

    Args:
        metric: Name of the metric, such as ``grad_norm``.
        subjects: Column names, unique; ``("",)`` for a metric of the whole run.
        max_rows: Rows kept before thinning; None derives it from ``MAX_CELLS``.
    """

    __slots__ = (
        "_columns",
        "_high",
        "_last",
        "_low",
        "_saved",
        "_seen",
        "_steps",
        "_values",
        "max_rows",
        "metric",
        "stride",
        "subjects",
    )

    def __init__(self, metric: str, subjects: Sequence[str], *, max_rows: int | None = None) -> None:
        self.metric = metric
        self.subjects = tuple(subjects)
        self.max_rows = max_rows or max(MIN_ROWS, MAX_CELLS // max(len(self.subjects), 1))
        self.stride = 1
        self._columns = {name: i for i, name in enumerate(self.subjects)}
        self._steps = array("q")
        self._values = array("d" if len(self.subjects) == 1 else "f")
        self._seen = 0
        self._saved = 0
        self._last: tuple[int, Sequence[float]] | None = None
        self._low: _Extremes | None = None
        self._high: _Extremes | None = None

    def append(self, step: int, values: Sequence[float]) -> None:
        """Add one row; ``values`` has one number per subject."""
        if self._seen % self.stride == 0:
            self._steps.append(step)
            self._values.extend(values)
            self._last = None
            if len(self._steps) > self.max_rows:
                self._thin()
        else:
            self._last = (step, tuple(values))
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
        extremes = {kept.at(i) for kept in (self._low, self._high) if kept is not None and kept.steps[i] >= 0}
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
        best = np.fmax.reduce(kept, axis=0) if len(kept) else np.full(len(self.subjects), math.nan)
        if self._high is not None:
            best = np.fmax(best, self._high.values)
        return dict(zip(self.subjects, map(float, best), strict=True))

    def unsaved(self) -> tuple[bytes, bytes] | None:
        """Return the rows kept since ``mark_saved`` as raw int64 steps and values, or None."""
        if self._saved >= len(self._steps):
            return None
        width = len(self.subjects)
        steps, values = self._steps[self._saved :], self._values[self._saved * width :]
        return steps.tobytes(), values.tobytes()

    def mark_saved(self) -> None:
        """Take all rows so far for saved."""
        self._saved = len(self._steps)

    def load(self, steps: bytes, values: bytes) -> None:
        """Append rows as ``unsaved`` gave them."""
        new_steps, new_values = array("q"), array(self._values.typecode)
        new_steps.frombytes(steps)
        new_values.frombytes(values)
        width = len(self.subjects)
        for row, step in enumerate(new_steps):
            self.append(step, new_values[row * width : (row + 1) * width])
        self.mark_saved()

    def dropped(self) -> dict[str, Points] | None:
        """Return what is left of rows that thinning dropped, None while none was: the newest row and the extremes."""
        if self._low is None or self._high is None:
            return None
        last = ([], []) if self._last is None else ([self._last[0]], list(self._last[1]))
        return {"last": last, "low": self._low.points(), "high": self._high.points()}

    def restore(self, dropped: Mapping[str, Points]) -> None:
        """Take in, after the rows, what ``dropped`` gave."""
        self._low = _better(self._low, _Extremes.of(*dropped["low"]), sign=1.0)
        self._high = _better(self._high, _Extremes.of(*dropped["high"]), sign=-1.0)
        steps, values = dropped["last"]
        if steps and (not self._steps or steps[0] >= self._steps[-1]):
            self._last = (steps[0], tuple(values))

    def rows(self) -> Iterator[tuple[int, Sequence[float]]]:
        """Yield (step, values) for every row that thinning left."""
        width = len(self.subjects)
        for row, step in enumerate(self._steps):
            yield step, self._values[row * width : (row + 1) * width]

    def _thin(self) -> None:
        width = len(self.subjects)
        steps = np.frombuffer(self._steps, dtype=np.int64).copy()
        values = np.frombuffer(self._values, dtype=self._values.typecode).reshape(-1, width).copy()
        self._remember(steps[1::2], values[1::2])
        if len(steps) % 2 == 0:
            self._last = int(steps[-1]), tuple(values[-1].tolist())
        self._steps = array("q", steps[::2].tobytes())
        self._values = array(self._values.typecode, values[::2].tobytes())
        self._saved = (self._saved + 1) // 2
        self.stride *= 2

    def _remember(self, steps: NDArray[np.int64], values: NDArray[np.floating]) -> None:
        """Keep the least and greatest value of each column among rows that are dropped."""
        self._low = _better(self._low, _extremes(steps, values, sign=1.0), sign=1.0)
        self._high = _better(self._high, _extremes(steps, values, sign=-1.0), sign=-1.0)


def share_room(frames: Sequence[Frame]) -> None:
    """Lower the rows that frames may keep so that all of them together stay within ``MAX_CELLS_TOGETHER``.

    Args:
        frames: All frames of a run; called when one is added.
    """
    wide = [frame for frame in frames if len(frame.subjects) > FEW_COLUMNS]
    num_columns = sum(len(frame.subjects) for frame in wide)
    for frame in wide:
        frame.max_rows = min(frame.max_rows, max(MIN_ROWS_TOGETHER, MAX_CELLS_TOGETHER // num_columns))


class _Extremes(NamedTuple):
    steps: NDArray[np.int64]
    values: NDArray[np.float64]

    @classmethod
    def of(cls, steps: Sequence[int], values: Sequence[float]) -> Self:
        return cls(np.asarray(steps, dtype=np.int64), np.asarray(values, dtype=np.float64))

    def at(self, column: int) -> tuple[int, float]:
        return int(self.steps[column]), float(self.values[column])

    def points(self) -> Points:
        return self.steps.tolist(), self.values.tolist()


def _extremes(steps: NDArray[np.int64], values: NDArray[np.floating], *, sign: float) -> _Extremes:
    missing = np.isnan(values)
    where = np.where(missing, math.inf, sign * values).argmin(axis=0)
    columns = np.arange(values.shape[1])
    return _Extremes(np.where(missing[where, columns], -1, steps[where]), values[where, columns].astype(np.float64))


def _better(known: _Extremes | None, fresh: _Extremes, *, sign: float) -> _Extremes:
    if known is None:
        return fresh
    better = (known.steps < 0) | (sign * fresh.values < sign * known.values)
    return _Extremes(np.where(better, fresh.steps, known.steps), np.where(better, fresh.values, known.values))
