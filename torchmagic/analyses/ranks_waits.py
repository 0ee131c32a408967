"""This file is who waits for whom: the seconds that ranks wait for each other, and the one they wait for."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from torchmagic.analyses.ranks_courses import Courses, courses_of, phases_of, step_seconds
from torchmagic.session.ranked import Ranks

# The first steps find buckets, buffers and connections, and are watched more closely than others.
WARM_UP = 10
# Steps beyond these that have to be measured; with fewer, what ranks did besides tells who came late.
MIN_STEPS = 5
# Metrics that tell how long a rank waited in a step, the one that tells most first: with the phase of which the wait is
# a part, and how many steps later than it was it is told.
METRICS = {"sync_wait": ("backward", 1), "comm_seconds": ("other", 0)}
# Steps measured, as a share of all, below which they are a sample.
SAMPLE = 0.5
TWO = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Waits:
    """How long each rank waited for others, at the steps at which that is known of all of them.

    Args:
        waited: Seconds.
        took: Seconds that these steps took in all.
        phases: Seconds of each phase of all steps.
        inside: The phase of which the wait is a part.
        is_estimated: Whether the wait was not measured, but is what the other phases leave to the slowest rank.
        is_sampled: Whether only some steps were measured, as DDP times itself.
    """

    waited: Courses
    took: Courses
    phases: Mapping[str, Courses]
    inside: str
    is_estimated: bool
    is_sampled: bool

    @property
    def share(self) -> float:
        """Share of the ranks' time that went into waiting for each other, 0 to 1."""
        whole = float(self.took.values.sum())
        return min(1.0, float(self.waited.values.sum()) / whole) if whole else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Straggler:
    """The rank that the others wait for.

    Args:
        rank: Which.
        led: Share of the steps in which it waited least of all.
        share: By how much the others waited longer than it, in the median, as a share of a step's time.
        seconds: The same in seconds a step.
        num_steps: Steps that are known.
        chance: How likely it is that some rank leads so often where each step falls to any of them alike, 0 to 1.
        phase: Phase in which it takes longer than the others; empty where none stands out.
        own: Seconds that this phase takes it in a step, waiting left out.
        usual: Seconds that it takes the others, in the median.
    """

    rank: int
    led: float
    share: float
    seconds: float
    num_steps: int
    chance: float
    phase: str
    own: float
    usual: float


def waits(ranks: Ranks) -> Waits | None:
    """Return how long ranks waited for each other, or None where they exchange nothing, or fewer than two tell."""
    phases = phases_of(ranks)
    took = step_seconds(phases)
    for metric, (inside, late) in METRICS.items():
        found = courses_of(ranks, metric)
        if len(found.ranks) < TWO or not found.values.any():
            continue
        found = Courses(ranks=found.ranks, steps=found.steps - late, values=found.values)
        measured = _measured(found, took, phases, inside)
        if measured is not None:
            return measured
        if len(took.ranks) >= TWO:
            return _estimated(took, phases, inside)
    return None


def waits_of_each_step(ranks: Ranks) -> Waits | None:
    """Return the same of every step; where only some were measured, estimated from what ranks did besides."""
    found = waits(ranks)
    if found is None or not found.is_sampled:
        return found
    return _estimated(step_seconds(found.phases), found.phases, found.inside)


def slowest(found: Waits) -> Straggler:
    """Return the rank that waited least, and how much longer the others did."""
    values = found.waited.values
    least = np.bincount(values.argmin(axis=0), minlength=len(values))
    index = int(least.argmax())
    others = np.median(np.delete(values, index, axis=0), axis=0)
    seconds = float(np.median(others - values[index]))
    whole = float(np.median(found.took.values))
    rank = found.waited.ranks[index]
    phase, own, usual = _longest(found, rank)
    return Straggler(
        rank=rank,
        led=float(least[index]) / values.shape[1],
        share=seconds / whole if whole else 0.0,
        seconds=seconds,
        num_steps=values.shape[1],
        chance=_chance(int(least[index]), values.shape[1], len(values)),
        phase=phase,
        own=own,
        usual=usual,
    )


def exchanging(ranks: Ranks, found: Waits) -> float:
    """Return the share of the steps' time in which something was exchanged, waiting included."""
    took = step_seconds(found.phases)
    spent = [course for metric in ("sync_seconds", "comm_seconds") if len(course := courses_of(ranks, metric))]
    shares = [float(course.since(WARM_UP).values.mean()) for course in spent if len(course.since(WARM_UP))]
    whole = float(took.values.mean()) if len(took) else 0.0
    return min(1.0, sum(shares) / whole) if whole else 0.0


def _measured(found: Courses, took: Courses, phases: Mapping[str, Courses], inside: str) -> Waits | None:
    known = took.at(found.steps).since(WARM_UP)
    if len(known) < MIN_STEPS or not set(found.ranks) <= set(known.ranks):
        return None
    rows = [known.of(rank) for rank in found.ranks]
    return Waits(
        waited=found.at(known.steps),
        took=Courses(ranks=found.ranks, steps=known.steps, values=np.stack(rows)),
        phases=phases,
        inside=inside,
        is_estimated=False,
        is_sampled=len(known) < SAMPLE * len(took.since(WARM_UP)),
    )


def _estimated(took: Courses, phases: Mapping[str, Courses], inside: str) -> Waits | None:
    """Return what each rank had to wait for the one that had most to do before the exchange, step by step."""
    work = np.sum([course.values for phase, course in phases.items() if phase != inside], axis=0)
    first = WARM_UP if len(took) >= WARM_UP + MIN_STEPS else 1
    waited = Courses(ranks=took.ranks, steps=took.steps, values=work.max(axis=0) - work).without(first)
    if not len(waited):
        return None
    rest = took.without(first)
    return Waits(waited=waited, took=rest, phases=phases, inside=inside, is_estimated=True, is_sampled=False)


def _chance(led: int, num_steps: int, num_ranks: int) -> float:
    """Return how likely it is that one of so many equal ranks leads at least so often."""
    whole, hit, miss = math.lgamma(num_steps + 1), math.log(1 / num_ranks), math.log(1 - 1 / num_ranks)
    ways = (
        whole - math.lgamma(k + 1) - math.lgamma(num_steps - k + 1) + k * hit + (num_steps - k) * miss
        for k in range(led, num_steps + 1)
    )
    return min(1.0, num_ranks * sum(map(math.exp, ways)))


def _longest(found: Waits, rank: int) -> tuple[str, float, float]:
    """Return the phase in which a rank exceeds the others most, with its seconds and theirs."""
    best = ("", 0.0, 0.0)
    for phase, course in found.phases.items():
        if rank not in course.ranks or len(course.ranks) < TWO or (found.is_estimated and phase == found.inside):
            continue
        seconds = np.median(course.values, axis=1)
        if phase == found.inside:
            seconds = seconds - _usual_wait(found, course)
        own = float(seconds[course.ranks.index(rank)])
        usual = float(np.median(np.delete(seconds, course.ranks.index(rank))))
        if own - usual > best[1] - best[2]:
            best = phase, max(0.0, own), max(0.0, usual)
    return best


def _usual_wait(found: Waits, course: Courses) -> NDArray[np.float64]:
    """Return the median wait of each rank of a course, nothing for a rank that told none."""
    usual = dict(zip(found.waited.ranks, np.median(found.waited.values, axis=1), strict=True))
    return np.array([usual.get(rank, 0.0) for rank in course.ranks])
