"""This file is how two ways to do the same are timed: in turns, and judged by the pairs.

What disturbs a machine lasts longer than a step, so it falls on both of a pair. In every other pair the order is turned
around, so that being second is nobody's advantage.
"""

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

# The interval covers the true factor in this share of cases: a comparison with itself shall come out as such in at
# least 19 of 20, and not every disturbance is even.
CONFIDENCE = 0.99
# Two copies of one model lie differently in memory, which alone can make one of them faster by some percent.
SMALLEST_GAIN = 0.03
# Neighbouring pairs resemble each other; more than so many are pooled.
_MOST_PAIRS = 60
_QUARTERS = 4
_NEIGHBOURS = 2

Step = Callable[[int], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """Times of a step.

    Args:
        median: Seconds.
        low: Lower quartile in seconds.
        high: Upper quartile in seconds.
        number: How many steps were timed.
    """

    median: float
    low: float
    high: float
    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Speedup:
    """How many times faster a step is than the plain one.

    Args:
        factor: Time of the plain step by that of the other; above 1 is faster.
        low: Lower end of the interval.
        high: Upper end of it; infinite where there were too few steps to tell.
        verdict: ``"faster"``, ``"slower"`` or ``"no difference"``: the first two only if the whole interval lies
            beyond what is told apart.
    """

    factor: float
    low: float
    high: float
    verdict: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairs:
    """Seconds of steps that were timed in turns.

    Args:
        reference: Of the plain way.
        candidate: Of the other, as many.
    """

    reference: tuple[float, ...]
    candidate: tuple[float, ...]


def in_turns(
    reference: Step, candidate: Step, *, first: int, number: int, goes_on: Callable[[int], bool] = lambda _: True
) -> Pairs:
    """Run two ways in turns.

    Args:
        reference: Does the step of a number and returns its seconds.
        candidate: The same in another way.
        first: Number of the first step.
        number: How many steps each does at most.
        goes_on: Asked after each pair, with how many there are; the end is where it says no.
    """
    times: tuple[list[float], list[float]] = ([], [])
    for i in range(number):
        # 0 1, 1 0, 0 1, ...
        for which in (0, 1) if i % 2 == 0 else (1, 0):
            times[which].append((reference, candidate)[which](first + i))
        if not goes_on(i + 1):
            break
    return Pairs(reference=tuple(times[0]), candidate=tuple(times[1]))


def spread(seconds: Sequence[float]) -> Spread:
    """Return median and quartiles.

    Raises:
        ValueError: If there are no times.
    """
    if not seconds:
        raise ValueError("no step was timed")
    if len(seconds) == 1:
        return Spread(median=seconds[0], low=seconds[0], high=seconds[0], number=1)
    low, median, high = statistics.quantiles(seconds, n=_QUARTERS, method="inclusive")
    return Spread(median=median, low=low, high=high, number=len(seconds))


def speedup(pairs: Pairs, *, confidence: float = CONFIDENCE, neighbours: int = _NEIGHBOURS) -> Speedup:
    """Return the factor between two ways, with an interval that assumes nothing about how times are distributed.

    Two neighbouring pairs, one in each order, are one observation: the logarithm of their ratio. Factor and interval
    are those of Hodges and Lehmann: the median of all means of two observations, and the means that Wilcoxon's signed
    ranks put at the edges. Hollander, Wolfe, Chicken: Nonparametric Statistical Methods, section 3.2.

    Args:
        pairs: Times of both.
        confidence: Share of cases in which the interval covers the true factor.
        neighbours: Pairs that are one observation; with one, being second adds to the noise instead of cancelling out.
    """
    observed = _observed(pairs, neighbours)
    if not observed:
        return Speedup(factor=1.0, low=0.0, high=math.inf, verdict="no difference")
    means = sorted((one + other) / 2 for i, one in enumerate(observed) for other in observed[i:])
    edge = _edge(len(observed), (1 - confidence) / 2)
    factor = math.exp(statistics.median(means))
    low = math.exp(means[edge - 1]) if edge else 0.0
    high = math.exp(means[len(means) - edge]) if edge else math.inf
    verdict = "faster" if low > 1 + SMALLEST_GAIN else "slower" if high < 1 - SMALLEST_GAIN else "no difference"
    return Speedup(factor=factor, low=low, high=high, verdict=verdict)


def _observed(pairs: Pairs, neighbours: int) -> list[float]:
    number = len(pairs.reference) // neighbours * neighbours
    both = [
        (sum(pairs.reference[i : i + neighbours]), sum(pairs.candidate[i : i + neighbours]))
        for i in range(0, number, neighbours)
    ]
    if not both and pairs.reference:
        both = [(pairs.reference[0], pairs.candidate[0])]
    size = -(-len(both) // _MOST_PAIRS) or 1
    pools = [both[i : i + size] for i in range(0, len(both), size)]
    sums = [(sum(each[0] for each in pool), sum(each[1] for each in pool)) for pool in pools]
    return [math.log(one / other) for one, other in sums if one > 0 and other > 0]


def _edge(number: int, tail: float) -> int:
    """Return how many of the ordered means lie beyond each end of the interval, at most; 0 where all would have to."""
    # ways[t]: in how many ways some of the ranks 1..n add up to t, which is how often chance gives that sum.
    ways = [1]
    for rank in range(1, number + 1):
        longer = ways + [0] * rank
        for total, count in enumerate(ways):
            longer[total + rank] += count
        ways = longer
    allowed, covered, edge = tail * 2**number, 0, 0
    for count in ways:
        covered += count
        if covered > allowed:
            return edge
        edge += 1
    return edge
