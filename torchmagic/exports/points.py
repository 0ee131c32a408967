"""This file is the points of a run: every value of every metric, one subject after the other."""

from collections.abc import Iterator
from dataclasses import dataclass

from torchmagic.session.run import Run


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """Values of one subject of one metric over optimizer steps; the subject of the whole run is empty."""

    metric: str
    subject: str
    steps: list[int]
    values: list[float]


def curves(run: Run) -> Iterator[Curve]:
    """Yield what ``run.series(metric, name=subject)`` gives, for each metric and subject that has values."""
    pairs = dict.fromkeys((frame.metric, subject) for frame in run.frames for subject in frame.subjects)
    for metric, subject in pairs:
        steps, values = run.series(metric, name=subject)
        if steps:
            yield Curve(metric=metric, subject=subject, steps=steps, values=values)
