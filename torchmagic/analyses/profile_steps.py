"""This file is how the steps of a profile spread, and which of them were slow and by what."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from torchmagic.analyses.profile_window import phase_seconds, step_seconds
from torchmagic.records.profile import PhasesRecord

# Of values that spread normally, the median of their distances from their median times this is the deviation.
DEVIATION_OF_MAD = 1.4826
# A step is slow that is so many deviations above the median, as of 20 normal ones none is ...
FAR = 5.0
# ... and takes this share more than it, as steps that hardly differ have tiny deviations.
LEAST_EXCESS = 0.15
# Of fewer steps it cannot be said which are usual.
LEAST_STEPS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """How some values lie: median, quartiles and robust deviation."""

    middle: float
    low: float
    high: float
    most: float
    deviation: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SlowStep:
    """A step that took much longer than the others.

    Args:
        step: Optimizer steps made before it.
        seconds: What it took.
        excess: Of these, those above the median of all.
        phase: The phase that took most longer than its own median.
        phase_excess: By how many seconds it did.
    """

    step: int
    seconds: float
    excess: float
    phase: str
    phase_excess: float


def spread(values: Sequence[float]) -> Spread:
    """Return how values, at least one, lie."""
    found = np.asarray(values, dtype=float)
    low, middle, high = (float(each) for each in np.quantile(found, (0.25, 0.5, 0.75)))
    deviation = DEVIATION_OF_MAD * float(np.median(np.abs(found - middle)))
    return Spread(middle=middle, low=low, high=high, most=float(found.max()), deviation=deviation)


def slow_steps(phases: PhasesRecord) -> list[SlowStep]:
    """Return the steps that took much longer than the others, in order; none of a handful."""
    seconds = step_seconds(phases)
    if len(seconds) < LEAST_STEPS:
        return []
    usual = spread(seconds)
    limit = usual.middle + max(FAR * usual.deviation, LEAST_EXCESS * usual.middle)
    return [_slow(phases, i, seconds[i], usual.middle) for i in range(len(seconds)) if seconds[i] > limit]


def _slow(phases: PhasesRecord, index: int, seconds: float, middle: float) -> SlowStep:
    excesses = {
        phase: values[index] - float(np.median(values)) for phase, values in phase_seconds(phases).items() if values
    }
    phase = max(excesses, key=excesses.__getitem__)
    return SlowStep(
        step=phases.steps[index],
        seconds=seconds,
        excess=seconds - middle,
        phase=phase,
        phase_excess=excesses[phase],
    )
