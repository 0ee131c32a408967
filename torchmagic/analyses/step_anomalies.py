"""This file is the anomalies of a run by step: how many of its steps had a loss or gradients that are not sound."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from torchmagic.session.run import Run

# Total gradient norms above this are out of proportion; the rule exploding-gradient takes the same one.
EXPLODED = 1e3
# The norm from which on the four documents call a gradient vanished.
VANISHED = 1e-6

_Judge = Callable[[NDArray[np.float64]], NDArray[np.bool_]]


@dataclass(frozen=True, slots=True, kw_only=True)
class StepAnomalies:
    """How many steps had what.

    Args:
        steps: Optimizer steps.
        losses: Steps with a loss that is not finite.
        exploding: Steps whose total gradient norm is not finite, or above 1,000.
        vanishing: Steps whose total gradient norm is below 0.000001.
        anomalous: Steps with any of these.
    """

    steps: int
    losses: int
    exploding: int
    vanishing: int
    anomalous: int


def step_anomalies(run: Run) -> StepAnomalies:
    """Count the steps of a run whose loss or total gradient norm is not sound; of a thinned series, those kept."""
    losses = _steps_where(run, "loss", lambda values: ~np.isfinite(values), whole=False)
    exploding = _steps_where(run, "grad_norm", lambda values: ~(values <= EXPLODED))
    vanishing = _steps_where(run, "grad_norm", lambda values: values < VANISHED)
    return StepAnomalies(
        steps=run.steps,
        losses=len(losses),
        exploding=len(exploding),
        vanishing=len(vanishing),
        anomalous=len(losses | exploding | vanishing),
    )


def _steps_where(run: Run, metric: str, is_odd: _Judge, *, whole: bool = True) -> set[int]:
    """Return the steps at which a metric, of the whole run or of any one subject, is odd."""
    found: set[int] = set()
    for frame in tuple(run.frames):
        if frame.metric != metric or len(frame.subjects) != 1 or (whole and frame.subjects != ("",)):
            continue
        steps, values, _ = frame.rows_since(0)
        odd = is_odd(np.frombuffer(values, dtype=np.float64))
        found.update(np.frombuffer(steps, dtype=np.int64)[odd].tolist())
    return found
