"""The backward computes a gradient of the input that nobody uses.

*Symptom*: the backward of the first layer takes twice as long as that of others of its size.

*Why it happens*: the batch has ``requires_grad=True``, as in old examples with ``Variable``, so that the backward goes
on through the first layer to the data.

*What to try*: leave out ``requires_grad=True`` where batches are made; parameters have it by themselves.

*Source*: PyTorch documentation, "Autograd mechanics", on ``requires_grad``.
"""

import re
from collections.abc import Iterator

from torchmagic.analyses.profile_costs import LEAST_GAIN, Profile, path_of, profile_of, shown
from torchmagic.analyses.savings import saved, saves
from torchmagic.records.costs import ModuleCost
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.speed import InputGradientRecord
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run

MIN_LOOKS = 2
# Of the backward of a layer, what it spends on its input: one of two products of the same size.
INPUTS_PART = 0.5
# Words of somebody who uses gradients: ``x.grad``, ``autograd.grad(...)``, a hook.
USED = re.compile(r"\.grad\b|\bgrad\(|register_hook|retain_grad|functorch|torch\.func\b|\bvjp\b|\bjacobian")


@rule
def input_gradient(run: Run, *, min_share: float = LEAST_GAIN, min_looks: int = MIN_LOOKS) -> Iterator[Finding]:
    """Report inputs that got a gradient in every step, where nothing reads gradients."""
    profile = profile_of(run)
    if profile is None or not run.source or any(USED.search(text) for text in profile.sources):
        return
    for record in run.of(InputGradientRecord):
        first = _first_layer(profile, record.model)
        if record.steps < min_looks or record.steps < record.looks or first is None:
            continue
        cost = INPUTS_PART * first.backward_own
        if profile.share(cost) >= min_share:
            yield _finding(profile, record, first, cost, min_share)


def _first_layer(profile: Profile, model: str) -> ModuleCost | None:
    layers = (each for each in profile.costs.modules if each.model == model and each.dtype and each.backward_own > 0)
    return next(layers, None)


def _finding(
    profile: Profile, record: InputGradientRecord, first: ModuleCost, cost: float, min_share: float
) -> Finding:
    return Finding(
        rule="input-gradient",
        severity=Severity.INFO,
        confidence=0.65,
        title=f"the input of {record.model} gets a gradient that nothing reads: about {profile.told(cost)}"
        + saved(profile, cost, cost=cost),
        module=path_of(first),
        **line_of(shown(record.place)),
        evidence=profile.evidence(cost, min_share)
        | saves(profile, cost)
        | {"counted": f"half of the backward of {path_of(first)}", "input": str(record.shape)},
        why="The batch asks for a gradient, so that the backward goes on through the first layer to the data.",
        fix="x.requires_grad_(False)  # or leave out requires_grad=True where x is made",
    )
