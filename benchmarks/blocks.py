"""This file is the clock of the benchmarks: blocks of steps in turns with bare ones, and ratios with their interval.

Other work on the machine falls on all ways alike: they run in turns within one process, in another order each round,
and a block's ratio is taken to the mean of the two bare blocks around it. CPU time is that of the process, all threads.
"""

import gc
import random
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from time import perf_counter, process_time

import torch
from workloads import Step

# Most steps before a block is timed; no more than the block itself has.
NUM_WARM_STEPS = 50
NUM_DRAWS = 1000
SURE = 0.9


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds a step of one block, or the ratio to the bare blocks beside it.

    Args:
        cpu: CPU time, the mean of the steps.
        wall: Wall time, the mean of the steps.
        usual: CPU time of the median step: without what only some steps take.
    """

    cpu: float
    wall: float
    usual: float

    def ratio(self, before: "Times", after: "Times") -> "Times":
        """Return the ratio to the mean of the bare blocks before and after."""
        return Times(
            2 * self.cpu / (before.cpu + after.cpu),
            2 * self.wall / (before.wall + after.wall),
            2 * self.usual / (before.usual + after.usual),
        )


@dataclass(slots=True)
class Measured:
    """What was measured of one workload: bare blocks, the ratios of each way by round, and why a way failed."""

    bare: list[Times] = field(default_factory=list)
    ratios: dict[str, list[Times]] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)


Way = Callable[[], Times]


def block(step: Step, count: int) -> Times:
    """Time so many steps."""
    wall, marks = perf_counter(), [process_time()]
    for index in range(count):
        step(index)
        marks.append(process_time())
    if torch.accelerator.is_available():
        torch.accelerator.synchronize()  # an accelerator works on when the host is done
        marks[-1] = process_time()
    wall = perf_counter() - wall
    return Times((marks[-1] - marks[0]) / count, wall / count, median([b - a for a, b in pairwise(marks)]))


def in_turns(step: Step, num_steps: int, ways: Mapping[str, Way], *, rounds: int) -> Measured:
    """Run every way once a round, each between two bare blocks; a way that raises is out from there on."""
    measured = Measured(ratios={name: [] for name in ways})
    order, shuffler = list(ways), random.Random(0)  # its own generator: torch's and Python's are left alone

    def bare() -> Times:
        gc.collect()
        block(step, 2)
        measured.bare.append(block(step, num_steps))
        return measured.bare[-1]

    block(step, max(3, num_steps // 4))
    before = bare()
    for _ in range(rounds):
        shuffler.shuffle(order)
        for name in tuple(order):
            gc.collect()
            try:
                times = ways[name]()
            except Exception as error:
                measured.failed[name] = f"{type(error).__name__}: {error}"
                order.remove(name)
            after = bare()
            if name not in measured.failed:
                measured.ratios[name].append(times.ratio(before, after))
            before = after
    return measured


def median(values: Sequence[float]) -> float:
    """Return the median."""
    return statistics.median(values)


def interval(values: Sequence[float]) -> tuple[float, float]:
    """Return where the median lies with 90% certainty: the bootstrap's percentiles, the same at each call."""
    draw = random.Random(0)
    medians = sorted(median(draw.choices(values, k=len(values))) for _ in range(NUM_DRAWS))
    edge = round(NUM_DRAWS * (1 - SURE) / 2)
    return medians[edge], medians[-1 - edge]


def cpu(ratios: Sequence[Times]) -> list[float]:
    """Return the ratios of CPU time."""
    return [each.cpu for each in ratios]


def usual(ratios: Sequence[Times]) -> list[float]:
    """Return the ratios of the median steps' CPU time."""
    return [each.usual for each in ratios]


def wall(ratios: Sequence[Times]) -> list[float]:
    """Return the ratios of wall time."""
    return [each.wall for each in ratios]


def with_interval(values: Sequence[float]) -> str:
    """Return the median and its interval in 19 characters."""
    low, high = interval(values)
    return f"{median(values):6.3f} {f'{low:.2f}..{high:.2f}':>12}"
