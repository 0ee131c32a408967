"""This file tells a leak from noise, from warm-up and from a sawtooth: by the trend of memory over steps."""

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

# Samples that are kept: all pairs of them take a millisecond.
MOST_SAMPLES = 256
# The beginning of a run fills caches and pools: this share of the samples says nothing, and enough must be left.
WARM_UP, LEAST_SAMPLES = 1 / 3, 40
# A run is looked at again and again: a usual level, such as one in a hundred, would be passed by chance in the end.
MOST_CHANCE = 1e-4
# A leak grows in each of so many parts of the time, in none of them by more than this share of all: one jump is none.
NUM_PARTS, MOST_OF_ALL = 6, 0.5
# What levels off grows less in its last parts than this share of what it grew in its first ones.
LEAST_LATE = 0.75
# Less growth than this share of the level is not worth a word.
LEAST_GROWTH = 5e-3


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryTrend:
    """How memory went over steps, in the unit of what came, such as bytes or MB.

    Args:
        num_samples: Samples that were looked at, after those of the warm-up.
        slope: Growth a step: the median slope of all pairs (Theil and Sen).
        growth: What that makes over the steps looked at.
        chance: How likely memory without a trend would look like this, with its own persistence taken into account:
            twice the lesser chance of two tests.
        is_leak: Whether memory grows, steadily and without levelling off.
        reason: Why it is a leak or none, in one line.
    """

    num_samples: int
    slope: float
    growth: float
    chance: float
    is_leak: bool
    reason: str

    def __bool__(self) -> bool:
        return self.is_leak


class MemoryWindow:
    """The last samples of memory; older ones are forgotten.

    Args:
        most: Samples that are kept.
    """

    def __init__(self, most: int = MOST_SAMPLES) -> None:
        self._samples: deque[tuple[float, float]] = deque(maxlen=most)

    def __len__(self) -> int:
        return len(self._samples)

    def add(self, step: float, amount: float) -> None:
        """Take in what was used at a step; steps rise."""
        self._samples.append((step, amount))

    def trend(self) -> MemoryTrend:
        """Return the trend of what is kept."""
        return memory_trend([step for step, _ in self._samples], [amount for _, amount in self._samples])

    def clear(self) -> None:
        """Forget all samples."""
        self._samples.clear()


def memory_trend(steps: Sequence[float], amounts: Sequence[float], *, warm_up: float = WARM_UP) -> MemoryTrend:
    """Judge whether memory leaks.

    Args:
        steps: When each sample was taken, rising.
        amounts: What was used then, in bytes or any other unit; samples that are not finite are left out.
        warm_up: Share of the samples at the beginning that say nothing, 0 to below 1.

    Raises:
        ValueError: If there are not as many steps as amounts, or ``warm_up`` is no such share; one line.
    """
    if len(steps) != len(amounts):
        raise ValueError(f"as many steps as amounts of memory were wanted, {len(steps)} and {len(amounts)} came")
    if not 0 <= warm_up < 1:
        raise ValueError(f"warm_up is a share of the samples, 0 to below 1, {warm_up!r} came")
    x, y = np.asarray(steps, dtype=np.float64), np.asarray(amounts, dtype=np.float64)
    known = np.isfinite(x) & np.isfinite(y)
    x, y = x[known], y[known]
    x, y = x[int(len(x) * warm_up) :], y[int(len(y) * warm_up) :]
    if len(x) < LEAST_SAMPLES or x[-1] <= x[0]:
        reason = f"{len(x)} samples after the warm-up are too few to tell; {LEAST_SAMPLES} are needed"
        return MemoryTrend(num_samples=len(x), slope=0.0, growth=0.0, chance=1.0, is_leak=False, reason=reason)
    pairs = _pairs(x, y)
    growth = pairs.slope * float(x[-1] - x[0])
    rest = y - pairs.slope * (x - x[0])
    chance = min(1.0, 2 * min(_chance_of_balance(pairs.balance, rest), _chance_of_walk(growth, rest)))
    objection = _objection(y, growth, chance)
    return MemoryTrend(
        num_samples=len(x),
        slope=pairs.slope,
        growth=growth,
        chance=chance,
        is_leak=not objection,
        reason=objection or "it grows steadily and does not level off",
    )


class _Pairs(NamedTuple):
    """Median slope of all pairs of samples, and how many of them rise more than fall."""

    slope: float
    balance: int


def _pairs(x: NDArray[np.float64], y: NDArray[np.float64]) -> _Pairs:
    first, second = np.triu_indices(len(x), 1)
    run, rise = x[second] - x[first], y[second] - y[first]
    apart = run > 0
    slopes = rise[apart] / run[apart]
    return _Pairs(float(np.median(slopes)), int(np.sign(slopes).sum()))


def _chance_of_walk(growth: float, rest: NDArray[np.float64]) -> float:
    """Return the one-sided chance that memory which walks without aim, by such pushes, gets that far.

    Little noise that persists for very long leaves only few samples in the eyes of the other test; beside it a leak is
    so large that no walk would get there.
    """
    pushes = float(np.diff(rest).std()) * math.sqrt(len(rest))
    if not pushes:
        return 0.0 if growth > 0 else 1.0
    return NormalDist().cdf(-growth / pushes)


def _chance_of_balance(balance: int, rest: NDArray[np.float64]) -> float:
    """Return the one-sided chance of Kendall's test, its variance widened by how much each sample is like the last.

    Memory is not drawn anew at each step: what is held stays held for a while, and a walk without aim looks like a
    trend to a test that takes its samples for independent (Hamed and Rao, 1998).
    """
    num = len(rest)
    persistence = _persistence(rest)
    variance = num * (num - 1) * (2 * num + 5) / 18 * (1 + persistence) / (1 - persistence)
    return NormalDist().cdf(-balance / math.sqrt(variance))


def _persistence(rest: NDArray[np.float64]) -> float:
    """Return the correlation of neighbours, without its bias in short series; what falls below 0 counts as none."""
    centred = rest - rest.mean()
    total = float(centred @ centred)
    if not total:
        return 0.0
    found = float(centred[1:] @ centred[:-1]) / total
    return min(max(found + (1 + 4 * found) / len(rest), 0.0), 0.99)


def _objection(y: NDArray[np.float64], growth: float, chance: float) -> str:
    """Return why this is no leak, in one line; empty where nothing speaks against it."""
    level = float(np.median(np.abs(y)))
    if growth <= LEAST_GROWTH * level:
        return "it does not grow" if growth <= 0 else "it hardly grows"
    edges = np.linspace(0, len(y), NUM_PARTS + 1).astype(int)
    rises = np.diff([float(np.median(part)) for part in np.split(y, edges[1:-1])])
    if (rises <= 0).any():
        return "it grows only part of the time"
    if rises.max() > MOST_OF_ALL * rises.sum():
        return "it jumped once"
    half = len(rises) // 2
    if rises[-half:].sum() < LEAST_LATE * rises[:half].sum():
        return "its growth levels off"
    return f"its growth may be noise (chance {chance:.2g})" if chance > MOST_CHANCE else ""
