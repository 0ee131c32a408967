"""Gradients are filled with zeros before each backward, instead of being let go of.

*Symptom*: ``aten::zero_`` is among the dearest operators beside the model's.

*Why it happens*: ``zero_grad(set_to_none=False)``, once the default, writes zeros into every gradient, and the
backward then adds to them. Without a gradient it would simply keep the new one.

*What to try*: ``optimizer.zero_grad()``. A parameter that gets no gradient in a step then has None for one, and is left
out by the optimizer.

*Source*: PyTorch performance tuning guide, "Use parameter.grad = None instead of model.zero_grad()".
"""

from collections.abc import Iterator

from torchmagic.analyses.profile_costs import LEAST_GAIN, Profile, profile_of, shown
from torchmagic.analyses.savings import saved, saves
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.speed import StepRecord, ZeroedRecord
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run

# Each may call the one after it.
ZEROING = ("aten::_foreach_zero_", "aten::zero_", "aten::fill_")
ADDING = ("torch::autograd::AccumulateGrad",)
PHASES = ("optimizer", "other")
MIN_LOOKS = 2


@rule
def zeroed_gradients(run: Run, *, min_share: float = LEAST_GAIN, min_looks: int = MIN_LOOKS) -> Iterator[Finding]:
    """Report each line that fills gradients with zeros, where that takes long enough."""
    profile = profile_of(run)
    if profile is None or not profile.trains:
        return
    seconds = profile.own(ZEROING, PHASES) + _adding(run, profile)
    if profile.share(seconds) < min_share:
        return
    for record in run.of(ZeroedRecord):
        if record.zeroed < min_looks or record.zeroed < record.looks:
            continue
        yield Finding(
            rule="zeroed-gradients",
            severity=Severity.INFO,
            confidence=0.85,
            title=f"filling gradients with zeros and adding to them takes {profile.told(seconds)}"
            + saved(profile, seconds, cost=seconds),
            optimizer=record.optimizer,
            **line_of(shown(record.place)),
            evidence=profile.evidence(seconds, min_share)
            | saves(profile, seconds)
            | {"resets looked at": record.looks},
            why="The backward then adds to the zeros, which is one more pass over all gradients.",
            fix=f"{record.optimizer}.zero_grad()  # without set_to_none=False",
        )


def _adding(run: Run, profile: Profile) -> float:
    """Return what adding to the zeros took; nothing where several backward passes had to be added up anyway."""
    found = profile.operators(ADDING)
    parameters = sum(record.parameters for record in run.of(StepRecord))
    once = sum(each.calls for each in found) <= parameters * profile.steps
    return sum(each.total for each in found) if once else 0.0
