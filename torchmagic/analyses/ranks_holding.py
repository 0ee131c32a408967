"""This file is who holds up whom where the pace changes: what all ranks would save if one came as early as the next."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from torchmagic.analyses.ranks_waits import Waits

# Who only had a bad minute is not ahead in nearly all of so many parts of a run; one that became slow is, but in the
# first. Slow steps come in a row, so means of so many stretches tell what chance does, where single steps would not.
PARTS, MIN_AHEAD, STRETCHES = 4, 3, 10
# A step in which the others wait for so many seconds, and for this share of a usual step, is one that was held up.
HELD_SECONDS, HELD_SHARE = 0.002, 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Holder:
    """The rank that holds up the others most in all, be it late in some steps only.

    Args:
        rank: Which.
        share: What all would save were it as early as the next, as a share of the time.
        seconds: The same in seconds a step.
        often: Share of the steps in which it holds them up.
        each: Seconds for which it does in such a step, in the median.
        next: What they would save by the rank after it, as a share of what they would by this one.
        certainty: By how many standard errors it is ahead of that rank.
        is_steady: Whether it is ahead in all parts of the run but one at most.
        num_steps: Steps that are known.
        phase: Phase that is longer in these steps than in its others; empty where none is.
    """

    rank: int
    share: float
    seconds: float
    often: float
    each: float
    next: float
    certainty: float
    is_steady: bool
    num_steps: int
    phase: str


def holder(found: Waits) -> Holder:
    """Return the rank that holds up the others most.

    Args:
        found: Waits of at least two ranks, at one step or more.
    """
    values = found.waited.values
    late = _lateness(values)
    first, second = np.argsort(-late.sum(axis=1), kind="stable")[:2]
    usual = float(np.median(found.took.values))
    held = late[first] >= max(HELD_SECONDS, HELD_SHARE * usual)
    ahead = late[first] - late[second]
    means = np.array([part.mean() for part in np.array_split(ahead, min(STRETCHES, ahead.size))])
    spread = float(means.std()) / np.sqrt(max(1, means.size - 1))
    rank = found.waited.ranks[first]
    return Holder(
        rank=rank,
        share=float(late[first].mean() / max(found.took.values.mean(), 1e-12)),
        seconds=float(late[first].mean()),
        often=float(held.mean()),
        each=float(np.median(late[first][held])) if held.any() else 0.0,
        next=float(late[second].sum() / max(late[first].sum(), 1e-12)),
        certainty=float(means.mean()) / spread if spread else np.inf,
        is_steady=sum(float(part.sum()) > 0 for part in np.array_split(ahead, PARTS)) >= MIN_AHEAD,
        num_steps=values.shape[1],
        phase=_longer(found, rank, found.waited.steps[held]),
    )


def _lateness(values: NDArray[np.floating]) -> NDArray[np.float64]:
    """Return by how many seconds each rank came later than the one before it, where it was the last."""
    least, next_least = np.partition(values, 1, axis=0)[:2]
    late = np.zeros(values.shape)
    late[values.argmin(axis=0), np.arange(values.shape[1])] = next_least - least
    return late


def _longer(found: Waits, rank: int, steps: NDArray[np.int64]) -> str:
    """Return the phase of a rank that takes most longer at some steps than at its others."""
    best, name = 0.0, ""
    for phase, course in found.phases.items():
        if rank not in course.ranks or phase == found.inside:
            continue
        row, chosen = course.of(rank), np.isin(course.steps, steps)
        if chosen.any() and not chosen.all():
            longer = float(np.median(row[chosen]) - np.median(row[~chosen]))
            best, name = (longer, phase) if longer > best else (best, name)
    return name
