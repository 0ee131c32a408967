"""This file is the seconds of each step, without what torchmagic took."""

from collections import defaultdict

from torchmagic.analyses.time_split import PHASES
from torchmagic.session.run import Run


def step_seconds(run: Run) -> dict[int, float]:
    """Return the seconds of each step by step, in order; empty where they were not measured."""
    found: dict[int, float] = defaultdict(float)
    for phase in PHASES:
        for step, seconds in zip(*run.series("seconds", name=phase), strict=True):
            if step < run.steps:  # what comes after the last step is no step
                found[step] += seconds
    return dict(sorted(found.items()))
