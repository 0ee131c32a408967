"""At the first step the outputs of layers grow, or shrink, by orders of magnitude through depth.

*Symptom*: the first loss is huge or the first gradients are tiny; training begins with wild steps or hardly at all.

*Why it happens*: each layer multiplies the spread of what it gets by a factor that its initial weights decide. Over
many layers a factor of three is a million, and one of a third a millionth.

*What to try*: initialise for the activation, as ``nn.init.kaiming_normal_(layer.weight)`` for ReLU and
``nn.init.xavier_uniform_`` for tanh, or put normalisation layers between.

*Source*: Glorot and Bengio, AISTATS 2010; He et al., "Delving deep into rectifiers", ICCV 2015.
"""

import math
from collections.abc import Iterator

from torchmagic.records.activation import ActivationRecord
from torchmagic.records.finding import Finding, Severity
from torchmagic.rules.rule import rule
from torchmagic.session.run import Run

# Sound models stay within a factor of a hundred; a growth of ten thousand cannot be the data's doing.
MAX_GROWTH, MAX_SHRINKAGE = 1e4, 1e4
# Fewer layers say nothing of depth.
MIN_LAYERS = 3
AFFINE = frozenset({"Linear", "Conv1d", "Conv2d", "Conv3d"})


@rule
def poor_init_scale(
    run: Run, *, max_growth: float = MAX_GROWTH, max_shrinkage: float = MAX_SHRINKAGE, min_layers: int = MIN_LAYERS
) -> Iterator[Finding]:
    """Report, per model, the layer whose first outputs are furthest from those of the model's first layer."""
    spreads = _first_spreads(run)
    for model in dict.fromkeys(module.partition(".")[0] for module in spreads):
        layers = [module for module in spreads if module.partition(".")[0] == model]
        if len(layers) < min_layers:
            continue
        ratios = {module: spreads[module] / spreads[layers[0]] for module in layers}
        widest, narrowest = max(layers, key=lambda each: ratios[each]), min(layers, key=lambda each: ratios[each])
        if ratios[widest] > max_growth:
            yield _finding(widest, layers[0], ratios[widest], max_growth)
        elif ratios[narrowest] * max_shrinkage < 1:
            yield _finding(narrowest, layers[0], ratios[narrowest], 1 / max_shrinkage)


def _first_spreads(run: Run) -> dict[str, float]:
    """Return the standard deviation of each affine layer's outputs at the first look, where it is above zero."""
    first: dict[str, float] = {}
    for frame in run.frames:
        row = frame.first() if frame.metric == "activation_std" else None
        if row is not None and row[0] == 0:
            first.update(zip(frame.subjects, row[1], strict=True))
    layers = dict.fromkeys(each.module for each in run.of(ActivationRecord) if each.class_name in AFFINE)
    return {name: first[name] for name in layers if math.isfinite(spread := first.get(name, 0.0)) and spread > 0}


def _finding(module: str, first: str, ratio: float, threshold: float) -> Finding:
    times = f"{max(ratio, 1 / ratio):.1g} times {'wider' if ratio > 1 else 'narrower'}"
    return Finding(
        rule="poor-init-scale",
        severity=Severity.INFO,  # where it does harm, gradients or the loss say so louder
        confidence=0.8,
        title=f"before any learning the outputs of {module} are {times} than those of {first}",
        module=module,
        step=0,
        evidence={"ratio of the standard deviations": ratio, "threshold": threshold},
        why="The initial weights multiply the spread of what each layer gets by about the same factor.",
        fix="nn.init.kaiming_normal_(layer.weight)  # of each hidden layer; or a normalisation layer after it",
    )
