"""This file is what ranks measured at the same steps, side by side."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from torchmagic.analyses.time_split import PHASES
from torchmagic.session.ranked import Ranks
from torchmagic.session.run import Run

# A rank that made fewer steps than this share of what is usual, such as one that died early, is not compared.
LEAST_SHARE = 0.5

Course = tuple[NDArray[np.int64], NDArray[np.floating]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Courses:
    """Values of several ranks at the steps that all of them have.

    Args:
        ranks: The ranks, in order.
        steps: The steps, in order.
        values: One row a rank, one column a step.
    """

    ranks: tuple[int, ...]
    steps: NDArray[np.int64]
    values: NDArray[np.floating]

    def __len__(self) -> int:
        """Return how many steps there are."""
        return len(self.steps)

    def of(self, rank: int) -> NDArray[np.floating]:
        """Return the values of one rank."""
        row: NDArray[np.floating] = self.values[self.ranks.index(rank)]
        return row

    def first(self) -> "Courses":
        """Return the first of several numbers a step."""
        return Courses(ranks=self.ranks, steps=self.steps, values=self.values[0] if self.ranks else self.values)

    def without(self, num_first: int) -> "Courses":
        """Return the same without the first steps."""
        return Courses(ranks=self.ranks, steps=self.steps[num_first:], values=self.values[:, num_first:])

    def since(self, step: int) -> "Courses":
        """Return the same from a step on."""
        return self.without(int(np.searchsorted(self.steps, step)))

    def at(self, steps: NDArray[np.int64]) -> "Courses":
        """Return the same at those of these steps that it has."""
        kept = np.isin(self.steps, steps)
        return Courses(ranks=self.ranks, steps=self.steps[kept], values=self.values[:, kept])


NOTHING = Courses(ranks=(), steps=np.empty(0, dtype=np.int64), values=np.empty((0, 0)))


def side_by_side(courses: Mapping[int, Course]) -> Courses:
    """Return the courses of all ranks at the steps that they share; ranks with far fewer than is usual are left out.

    Args:
        courses: Steps and values of each rank; values may have one row for several numbers a step.
    """
    known = {rank: _once(steps, values) for rank, (steps, values) in courses.items() if len(steps)}
    if not known:
        return NOTHING
    usual = float(np.median([len(steps) for steps, _ in known.values()]))
    kept = {rank: course for rank, course in known.items() if len(course[0]) >= LEAST_SHARE * usual}
    shared = reduce(np.intersect1d, (steps for steps, _ in kept.values()))
    rows = [values[..., np.searchsorted(steps, shared)] for steps, values in kept.values()]
    return Courses(ranks=tuple(kept), steps=shared, values=np.stack(rows, axis=-2))


def courses_of(ranks: Ranks, metric: str, *, name: str = "") -> Courses:
    """Return a metric of all ranks side by side: of one subject, or of the whole run."""
    return side_by_side({rank: course_of(run, metric, (name,)) for rank, run in ranks.runs.items()}).first()


def losses_of(ranks: Ranks) -> Courses:
    """Return the losses of all ranks side by side, whatever they are called."""
    told = ranks.series("loss").items()
    return side_by_side({rank: (np.asarray(steps), np.asarray(losses)) for rank, (steps, losses) in told})


def phases_of(ranks: Ranks) -> dict[str, Courses]:
    """Return the seconds that each rank's steps took, by phase; empty where they were not measured."""
    found = side_by_side({rank: _whole_steps(run) for rank, run in ranks.runs.items()})
    if not len(found):
        return {}
    return {
        phase: Courses(ranks=found.ranks, steps=found.steps, values=found.values[i]) for i, phase in enumerate(PHASES)
    }


def step_seconds(phases: Mapping[str, Courses]) -> Courses:
    """Return the seconds of each rank's steps, all phases together."""
    first = next(iter(phases.values()), NOTHING)
    if not phases:
        return first
    return Courses(
        ranks=first.ranks, steps=first.steps, values=np.sum([each.values for each in phases.values()], axis=0)
    )


def course_of(run: Run, metric: str, names: Sequence[str]) -> Course:
    """Return the steps and values of some subjects of a metric, one row a subject; rows that were thinned out are not.

    It reads the columns as they lie: a thousand ranks have too many numbers to make Python's of them.
    """
    steps, values = [], []
    for frame in run.frames:
        if frame.metric == metric and set(names) <= set(frame.subjects):
            raw_steps, raw_values, _ = frame.rows_since(0)
            own = np.frombuffer(raw_steps, dtype=np.int64)
            kind = np.float64 if len(raw_values) == own.nbytes * len(frame.subjects) else np.float32
            cells = np.frombuffer(raw_values, dtype=kind).reshape(len(own), len(frame.subjects))
            steps.append(own)
            values.append(cells[:, [frame.subjects.index(name) for name in names]].T)
    if not steps:
        return NOTHING.steps, np.empty((len(names), 0))
    return np.concatenate(steps), np.concatenate(values, axis=1)


def _whole_steps(run: Run) -> Course:
    """Return the seconds of all phases at each step; what came after the last one is no step."""
    steps, values = course_of(run, "seconds", PHASES)
    return steps[steps < run.steps], values[:, steps < run.steps]


def _once(steps: NDArray[np.int64], values: NDArray[np.floating]) -> Course:
    """Return each step once, in order, with its first value."""
    if len(steps) < len((0, 1)) or bool((np.diff(steps) > 0).all()):
        return steps, values
    kept, first = np.unique(steps, return_index=True)
    return kept, values[..., first]
