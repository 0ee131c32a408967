"""Most of each update is lost to the precision of half-precision weights.

*Symptom*: training in pure bfloat16 or float16 is slower, or stops earlier, than the same training in float32.

*Why it happens*: bfloat16 keeps eight significant bits, so that an update below about 1/500 of a weight rounds away,
step after step, and never adds up.

*What to try*: keep the weights in float32 and compute under ``torch.autocast``; or an optimizer with float32 master
weights or stochastic rounding.

*Source*: Micikevicius et al., "Mixed precision training", ICLR 2018; Zamirai et al., "Revisiting BFloat16 training",
2020.
"""

from collections.abc import Iterator
from math import isnan, prod
from statistics import median

from torchmagic.records.finding import Finding, Severity
from torchmagic.records.model import ParameterRecord
from torchmagic.records.objective import GroupRecord
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run

HALF = ("bfloat16", "float16")
# More than this share of the elements with a gradient stays where it is in the usual step.
MIN_SHARE = 0.5
# Looks that make it usual.
MIN_LOOKS = 2


@rule
def swallowed_update(run: Run, *, min_share: float = MIN_SHARE) -> Iterator[Finding]:
    """Report each group of half-precision weights whose updates are mostly rounded away."""
    half = {record.name: record for record in run.of(ParameterRecord) if record.dtype in HALF}
    told: set[str] = set()
    for group in run.of(GroupRecord):
        usual = {name: share for name in group.parameters if name in half and (share := _usual(run, name)) is not None}
        weight = sum(prod(half[name].shape) for name in usual)
        if not weight or group.subject in told:
            continue
        share = sum(usual[name] * prod(half[name].shape) for name in usual) / weight
        if share <= min_share:
            continue
        told.add(group.subject)
        worst = max(usual, key=lambda name: usual[name] * prod(half[name].shape))
        yield Finding(
            rule="swallowed-update",
            severity=Severity.WARNING,
            confidence=0.8,
            title=f"{share:.0%} of each update of {group.subject} is lost to the precision of {half[worst].dtype}",
            parameter=worst,
            optimizer=group.optimizer,
            **line_of(group.built),
            step=group.step,
            evidence={"share of elements that stay": share, "threshold": min_share, "dtype": half[worst].dtype},
            why="Updates below half the distance to the next number round to nothing, and the next step begins anew.",
            fix="model.float()  # weights in float32, and torch.autocast for the forward",
        )


def _usual(run: Run, name: str) -> float | None:
    """Return the usual share of elements of a parameter that a step leaves as they are."""
    known = [share for share in run.series("update_swallowed", parameter=name)[1] if not isnan(share)]
    return median(known) if len(known) >= MIN_LOOKS else None
