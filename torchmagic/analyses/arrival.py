"""This file tells a training that has arrived: it begins where its loss is as small as it gets."""

import math
from collections.abc import Sequence
from statistics import median

from torchmagic.analyses.objective import chance_level, scale_of
from torchmagic.session.run import Run

# If the loss changes by less than this share of itself while the weights change wholly, along the gradient, it is flat
# as far as float32 can tell: trainings that go on are at 0.01 to 10, those that ended in full precision below 1e-4.
FLAT = 1e-3
# A loss at this share of the best constant prediction's is zero but for rounding.
NOTHING_LEFT = 1e-8


def has_arrived(run: Run, parameters: Sequence[str]) -> bool:
    """Whether there was nothing left to gain for parameters; no where that is not known.

    Args:
        run: With losses, gradients and weights.
        parameters: Names of those that an optimizer steps.
    """
    losses = _usual_losses(run)
    norms = [value for value in run.series("grad_norm", name="")[1] if math.isfinite(value)]
    if not losses or not norms:
        return False
    if _is_fitted(run, losses):
        return True
    lengths = [values[-1] for name in parameters if (values := run.series("weight_norm", parameter=name)[1])]
    length = math.hypot(*(each for each in lengths if not math.isnan(each)))
    return 0 < median(norms) * length < FLAT * max(map(abs, losses.values()))


def _usual_losses(run: Run) -> dict[str, float]:
    named = {name: run.series("loss", name=name)[1] for name in run.subjects("loss")}
    return {name: median(values) for name, values in named.items() if values}


def _is_fitted(run: Run, losses: dict[str, float]) -> bool:
    chance = chance_level(run)
    return all(abs(loss) < NOTHING_LEFT * chance * scale_of(run, name) for name, loss in losses.items())
