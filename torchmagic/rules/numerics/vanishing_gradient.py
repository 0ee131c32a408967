"""The first layers get gradients a million times smaller than the last one.

*Symptom*: the loss stays where it began, although the last layer gets gradients; the early layers do not move.

*Why it happens*: on its way back a gradient is multiplied by the slope of each activation. That of a sigmoid is a
quarter at most, and where units saturate it is near zero: a dozen such factors leave nothing.

*What to try*: use ReLU or GELU in hidden layers, add residual connections or normalisation layers, initialise for the
activation (``nn.init.kaiming_normal_``), or make the model less deep.

*Source*: Hochreiter, 1991; Glorot and Bengio, AISTATS 2010; Zhang et al., AUTOTRAINER, ICSE 2021.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from torchmagic.analyses.improvement import improvement, last_phase, noise_of_improvement
from torchmagic.analyses.layer_gradients import LayerGradients, layer_gradients
from torchmagic.records.finding import Finding, Severity
from torchmagic.rules.rule import rule
from torchmagic.session.run import Run

# Layers of a sound model differ by a factor of a thousand at most; a million is beyond any learning rate.
MAX_RATIO = 1e-6
# It must hold at most of the looks; in quick runs these are few, and so must be the steps before it counts.
MIN_SHARE, MIN_LOOKS, MIN_STEPS = 0.8, 2, 10
# Where the loss falls all the same, the layers that do learn are enough.
MOST_IMPROVEMENT = 0.05


@rule
def vanishing_gradient(
    run: Run,
    *,
    max_ratio: float = MAX_RATIO,
    min_share: float = MIN_SHARE,
    min_looks: int = MIN_LOOKS,
    min_steps: int = MIN_STEPS,
    most_improvement: float = MOST_IMPROVEMENT,
) -> Iterator[Finding]:
    """Report, per model, the first layer whose gradient is lost on its way back, where the loss does not improve."""
    gained = improvement(run)
    falls = any(_falls(run, most_improvement, after=step) for step in (0, last_phase(run)))
    if run.steps < min_steps or math.isnan(gained) or falls:
        return
    for found in layer_gradients(run):
        looks = [look for look in found.looks if look[1][-1] > 0 and all(not math.isinf(value) for value in look[1])]
        if len(looks) < min_looks:
            continue
        lost = [_share(looks, place, max_ratio) for place in range(len(found.layers) - 1)]
        # What gets no gradient at all is dead or unused; only where some is left it was lost on its way.
        if not any(share >= min_share and _is_left(looks, place) for place, share in enumerate(lost)):
            continue
        place = next(place for place, share in enumerate(lost) if share >= min_share)
        finding = _finding(found, place, looks[-1][1])
        told: dict[str, float | str] = {
            "threshold": max_ratio,
            "share of the looks": f"{lost[place]:.0%}",
            "the loss fell by" if gained >= 0 else "the loss rose by": f"{abs(gained):.1%}",
        }
        began = next(step for step, values in looks if values[place] < max_ratio * values[-1])
        yield replace(finding, step=began, evidence={**finding.evidence, **told})


def _share(looks: list[tuple[int, tuple[float, ...]]], place: int, max_ratio: float) -> float:
    return sum(values[place] < max_ratio * values[-1] for _, values in looks) / len(looks)


def _is_left(looks: list[tuple[int, tuple[float, ...]]], place: int) -> bool:
    return any(values[place] > 0 for _, values in looks)


def _finding(found: LayerGradients, place: int, values: Sequence[float]) -> Finding:
    layer, last = found.layers[place], found.layers[-1]
    return Finding(
        rule="vanishing-gradient",
        severity=Severity.WARNING,
        confidence=0.9,
        title=f"the gradient of {layer} is {values[place] / values[-1]:.1g} times that of {last}: nothing reaches it",
        module=layer,
        evidence={f"gradient of {layer}, root mean square": values[place], f"gradient of {last}": values[-1]},
        why="Each layer on the way back multiplies the gradient by a factor well below one: the first stand still.",
        fix="use nn.ReLU() or nn.GELU() between the layers, residual connections, or a normalisation layer",
    )


def _falls(run: Run, most_improvement: float, *, after: int) -> bool:
    """Whether the loss has fallen from a step on, by more than its noise."""
    return improvement(run, after=after) > most_improvement + 2 * noise_of_improvement(run, after=after)
