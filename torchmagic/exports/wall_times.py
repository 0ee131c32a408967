"""This file is the wall time of a step, which trackers want beside its number."""

from collections import defaultdict
from collections.abc import Callable

import numpy as np

from torchmagic.session.run import Run


def wall_times(run: Run) -> Callable[[int], float]:
    """Return what tells the time at which a step had ended, in seconds since the epoch.

    It follows the recorded seconds of the steps, stretched to the whole time of the run; where none were recorded,
    steps take equal times.
    """
    seconds: dict[int, float] = defaultdict(float)
    for phase in run.subjects("seconds"):
        for step, value in zip(*run.series("seconds", name=phase), strict=True):
            seconds[step] += value
    steps = sorted(seconds) or [0, max(run.steps, 1)]
    ends = np.cumsum([seconds[step] for step in steps]) if seconds else np.asarray([0.0, 1.0])
    if ends[-1] > 0 and (run.clock.seconds or not seconds):
        ends = ends * (run.clock.seconds / ends[-1])
    return lambda step: run.clock.started + float(np.interp(step, steps, ends))
