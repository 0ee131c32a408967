"""This file is small tensors of one shape together: rows of a matrix, whose statistics take few kernels."""

import math
from typing import Any, NamedTuple

import torch

from torchmagic.tensors.exact import GREATEST_PEAK, LEAST_PEAK
from torchmagic.tensors.glance import Glance, glance, sample
from torchmagic.tensors.moments import FEW_VALUES, LEAST_DOUBLE_VARIANCE
from torchmagic.tensors.reduce import SINGLES

# Small tensors wait for others of their shape until they hold so many values together, which a core's cache takes.
# Where their shapes differ as well, no more than the second number wait, so that code that never steps keeps none.
MOST_WAITING, MOST_HELD = 1 << 17, 1 << 20
# So many are not worth a matrix.
FEW = 2


class Sums(NamedTuple):
    """What the statistics of rows are made of: one number for each row.

    Args:
        totals: Sum of the values.
        squares: Sum of their squares.
        lows: The least one; NaN where one is NaN.
        highs: The greatest one; the same.
        filled: How many are not zero; undefined where one is NaN.
    """

    totals: list[float]
    squares: list[float]
    lows: list[float]
    highs: list[float]
    filled: list[float]


def row_sums(matrix: torch.Tensor) -> Sums:
    """Return what the rows of a matrix add up to.

    Args:
        matrix: Of float32 or float64, on the host, with at least one column and fewer than 2^24.
    """
    return Sums(
        totals=matrix.sum(1, dtype=torch.float64).tolist(),
        squares=torch.linalg.vector_norm(matrix, dim=1, dtype=torch.float64).square_().tolist(),
        lows=matrix.amin(1).tolist(),
        highs=matrix.amax(1).tolist(),
        filled=matrix.sign().square_().sum(1).tolist(),  # of a sign: torch counts ten times as slowly
    )


class Glances:
    """Takes glances at tensors; at small ones on the host together, at half of what they cost one by one.

    Those are copied as they come, so that they may be changed or freed afterwards.
    """

    def __init__(self) -> None:
        self._waiting: dict[tuple[torch.Size, torch.dtype], list[tuple[torch.Tensor, list[Any]]]] = {}
        self._num_held = 0

    def take(self, values: torch.Tensor, into: list[Any]) -> torch.Tensor:
        """Have a list told what ``glance`` says of a tensor: at once, or of a small one at the latest by ``finish``.

        Args:
            values: A ``readable`` tensor of any shape.
            into: Gets the six numbers.

        Returns:
            The values that are looked at: of a small tensor a copy, of a large one a sample.
        """
        size = values.numel()
        if size > FEW_VALUES or values.dtype not in SINGLES or not values.is_cpu:
            looked_at = sample(values.detach())
            into.extend(glance(looked_at))
            return looked_at
        key = values.shape, values.dtype
        copy = values.clone()
        waiting = self._waiting.get(key)
        if waiting is None:
            waiting = self._waiting[key] = []
        waiting.append((copy, into))
        self._num_held += size
        if len(waiting) * size >= MOST_WAITING:
            self._num_held -= len(waiting) * size
            _measure(self._waiting.pop(key))
        elif self._num_held >= MOST_HELD:
            self.finish()
        return copy

    def finish(self) -> None:
        """Tell all that waits."""
        while self._waiting:
            _measure(self._waiting.popitem()[1])
        self._num_held = 0


def _measure(waiting: list[tuple[torch.Tensor, list[Any]]]) -> None:
    if len(waiting) <= FEW:
        for values, into in waiting:
            into.extend(glance(values.reshape(-1)))
        return
    matrix = torch.stack([values for values, _ in waiting]).reshape(len(waiting), -1)
    for (_, into), found in zip(waiting, glances(matrix), strict=True):
        into.extend(found)


def glances(matrix: torch.Tensor) -> list[Glance]:
    """Return what ``glance`` says of each row of a matrix, as ``row_sums`` takes it."""
    count, found = matrix.shape[1], list[Glance]()
    for row, (total, squares, low, high, filled) in enumerate(zip(*row_sums(matrix), strict=True)):
        rest = squares - total * (total / count)
        if LEAST_PEAK**2 < rest < GREATEST_PEAK**2 and rest > LEAST_DOUBLE_VARIANCE * squares:
            found.append((total, math.sqrt(rest), low, high, count - filled, count))
        elif low == high and math.isfinite(total):
            found.append((total, 0.0, low, high, count - filled, count))
        else:
            found.append(glance(matrix[row]))
    return found
