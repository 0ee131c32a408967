"""This file is the columnar series: one metric over steps, one column a subject, one append a step."""

import math
from array import array
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from torchmagic.records.extremes import Extremes, Points, better, extremes_of

# 3 million float32 cells are 12 MB: eight statistics of 300 parameters over 10,000 steps then stay near 100 MB.
MAX_CELLS = 3_000_000
# A short wide series must keep enough rows to be drawn.
MIN_ROWS = 512
# All series of a run together: 30 million cells are 120 MB. Ones of few columns are small, and keep every row longer.
MAX_CELLS_TOGETHER = 30_000_000
FEW_COLUMNS = 16
# However many series share the room, each keeps about this many rows.
MIN_ROWS_TOGETHER = 64


class Frame:
    """Values of one metric for fixed subjects (parameters, modules, or one unnamed whole).

    Rows are appended in O(1). Past ``max_rows`` every other row is dropped and, from then on, only every second,
    fourth, … row is kept; the first, last, least and greatest value of each column are never lost.

    One thread appends; any other may read meanwhile, and sees whole rows: a row counts from the moment its step is
    there, which comes after its values, and thinning puts new arrays in the place of the old ones at one stroke.

    Args:
        metric: Name of the metric, such as ``grad_norm``.
        subjects: Column names, unique; ``("",)`` for a metric of the whole run.
        max_rows: Rows kept before thinning; None derives it from ``MAX_CELLS``.
    """

    __slots__ = (
        "_columns",
        "_high",
        "_kept",
        "_last",
        "_low",
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
        self._kept = self._steps, self._values, self.stride
        self._seen = 0
        self._last: tuple[int, Sequence[float]] | None = None
        self._low: Extremes | None = None
        self._high: Extremes | None = None

    def append(self, step: int, values: Sequence[float]) -> None:
        """Add one row; ``values`` has one number per subject."""
        if self._seen % self.stride == 0:
            self._values.extend(values)
            self._steps.append(step)  # after the values: from here on the row counts
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
        steps, values = self._rows()
        points = list(zip(steps, values[i :: len(self.subjects)], strict=True))
        extremes = {kept.at(i) for kept in (self._low, self._high) if kept is not None and kept.steps[i] >= 0}
        if (last := self._last) is not None:
            extremes.add((last[0], float(last[1][i])))
        if extremes := extremes.difference(points):
            points = sorted(points + list(extremes), key=lambda point: point[0])
        return [step for step, _ in points], [value for _, value in points]

    def last(self) -> tuple[int, Sequence[float]] | None:
        """Return the newest row, or None."""
        if (last := self._last) is not None:
            return last
        steps, values, _ = self._kept
        num_rows, width = len(steps), len(self.subjects)
        return (steps[num_rows - 1], values[(num_rows - 1) * width : num_rows * width]) if num_rows else None

    def first(self) -> tuple[int, Sequence[float]] | None:
        """Return the oldest row, or None."""
        steps, values, _ = self._kept
        return (steps[0], values[: len(self.subjects)]) if len(steps) else None

    def greatest(self) -> dict[str, float]:
        """Return each subject's greatest value so far; NaN where there is none."""
        if not self.subjects:
            return {}
        values = self._rows()[1]
        kept = np.frombuffer(values, dtype=values.typecode).reshape(-1, len(self.subjects))
        best = np.fmax.reduce(kept, axis=0) if len(kept) else np.full(len(self.subjects), math.nan)
        if self._high is not None:
            best = np.fmax(best, self._high.values)
        return dict(zip(self.subjects, map(float, best), strict=True))

    def sampled(self, most: int) -> tuple[float, ...]:
        """Return at most so many values of the first column, evenly over the rows, first and last among them."""
        steps, values, _ = self._kept
        num_rows, width = len(steps), len(self.subjects)
        if num_rows <= most:
            return tuple(values[: num_rows * width : width])
        return tuple(values[i * (num_rows - 1) // (most - 1) * width] for i in range(most))

    def rows_since(self, seen: int) -> tuple[bytes, bytes, int]:
        """Return the rows that were kept after the first ``seen`` ones were appended.

        Args:
            seen: What the call before returned; 0 for all rows.

        Returns:
            Raw int64 steps, raw values, and how many rows had been appended by then. Any thread may ask.
        """
        steps, values, stride = self._kept
        first, num_rows, width = -(-seen // stride), len(steps), len(self.subjects)
        return (
            steps[first:num_rows].tobytes(),
            values[first * width : num_rows * width].tobytes(),
            max(seen, num_rows * stride),
        )

    def load(self, steps: bytes, values: bytes) -> None:
        """Append rows as ``rows_since`` gave them.

        Raises:
            ValueError: If these are not as many values as the steps ask for.
        """
        new_steps, new_values = array("q"), array(self._values.typecode)
        new_steps.frombytes(steps)
        new_values.frombytes(values)
        width = len(self.subjects)
        if len(new_values) != len(new_steps) * width:
            raise ValueError(f"{len(new_steps)} rows of {width} columns cannot have {len(new_values)} values")
        if self.stride == 1 and self._last is None and len(self._steps) + len(new_steps) <= self.max_rows:
            self._values.extend(new_values)
            self._steps.extend(new_steps)
            self._seen += len(new_steps)
            return
        for row, step in enumerate(new_steps):
            self.append(step, new_values[row * width : (row + 1) * width])

    def dropped(self) -> dict[str, Points] | None:
        """Return what is left of rows that thinning dropped, None while none was: the newest row and the extremes."""
        low, high, newest = self._low, self._high, self._last
        if low is None or high is None:
            return None
        last = ([], []) if newest is None else ([newest[0]], list(newest[1]))
        return {"last": last, "low": low.points(), "high": high.points()}

    def restore(self, dropped: Mapping[str, Points]) -> None:
        """Take in, after the rows, what ``dropped`` gave.

        Raises:
            ValueError: If it is of another number of columns.
        """
        width = len(self.subjects)
        steps, values = dropped["last"]
        if len(values) != len(steps) * width or len(steps) > 1:
            raise ValueError(f"the newest row of {self.metric!r} has {len(values)} values for {width} columns")
        self._low = better(self._low, Extremes.of(*dropped["low"], width=width), sign=1.0)
        self._high = better(self._high, Extremes.of(*dropped["high"], width=width), sign=-1.0)
        if steps and (not self._steps or steps[0] >= self._steps[-1]):
            self._last = (steps[0], tuple(values))

    def rows(self) -> Iterator[tuple[int, Sequence[float]]]:
        """Yield (step, values) for every row that thinning left."""
        width = len(self.subjects)
        steps, values = self._rows()
        for row, step in enumerate(steps):
            yield step, values[row * width : (row + 1) * width]

    def table(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the steps of every row that thinning left, and the rows as those of a matrix: copies."""
        steps, values = self._rows()
        matrix = np.frombuffer(values, dtype=values.typecode).reshape(len(steps), len(self.subjects))
        return np.frombuffer(steps, dtype=np.int64).copy(), matrix.astype(np.float64)

    def _rows(self) -> "tuple[array[int], array[float]]":
        """Return copies of steps and values as they stand, with all values of every step."""
        steps, values, _ = self._kept
        num_rows = len(steps)
        return steps[:num_rows], values[: num_rows * len(self.subjects)]

    def _thin(self) -> None:
        width = len(self.subjects)
        steps = np.frombuffer(self._steps, dtype=np.int64).copy()
        values = np.frombuffer(self._values, dtype=self._values.typecode).reshape(-1, width).copy()
        self._remember(steps[1::2], values[1::2])
        if len(steps) % 2 == 0:
            self._last = int(steps[-1]), tuple(values[-1].tolist())
        self._steps = array("q", steps[::2].tobytes())
        self._values = array(self._values.typecode, values[::2].tobytes())
        self.stride *= 2
        self._kept = self._steps, self._values, self.stride

    def _remember(self, steps: NDArray[np.int64], values: NDArray[np.floating]) -> None:
        """Keep the least and greatest value of each column among rows that are dropped."""
        self._low = better(self._low, extremes_of(steps, values, sign=1.0), sign=1.0)
        self._high = better(self._high, extremes_of(steps, values, sign=-1.0), sign=-1.0)


def share_room(frames: Sequence[Frame]) -> None:
    """Lower the rows that frames may keep so that all of them together stay within ``MAX_CELLS_TOGETHER``.

    Args:
        frames: All frames of a run; called when one is added.
    """
    wide = [frame for frame in frames if len(frame.subjects) > FEW_COLUMNS]
    num_columns = sum(len(frame.subjects) for frame in wide)
    for frame in wide:
        frame.max_rows = min(frame.max_rows, max(MIN_ROWS_TOGETHER, MAX_CELLS_TOGETHER // num_columns))
