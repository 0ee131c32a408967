"""Tensors are copied only to bring their values into another order in memory.

*Symptom*: ``aten::clone``, ``aten::contiguous`` and ``aten::copy_`` are among the dearest operators of the forward.

*Why it happens*: ``transpose`` and ``permute`` leave the values where they are; ``contiguous()``, ``reshape`` and
``flatten`` after them have to copy, and ``clone()`` always does.

*What to try*: keep the order in which the next operator works: ``einsum`` or ``matmul`` on the transposed tensor,
``view`` where it is possible, one ``permute`` instead of several, no ``clone()`` where nothing is written in place.

*Source*: PyTorch documentation, "Tensor Views".
"""

from collections.abc import Iterator

from torchmagic.analyses.profile_costs import Profile, profile_of, shown
from torchmagic.analyses.savings import saved, saves
from torchmagic.records.costs import OperatorCost
from torchmagic.records.finding import Finding, Severity
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run

# Of the time. Some copies cannot be helped, as in attention with several heads.
MIN_SHARE = 0.08
# The first calls the second, the second the third, which does the work.
COPIES = ("aten::contiguous", "aten::clone", "aten::copy_")


@rule
def layout_copies(run: Run, *, min_share: float = MIN_SHARE) -> Iterator[Finding]:
    """Report what copies of the forward cost, at the line of the dearest."""
    profile = profile_of(run)
    if profile is None or not profile.trains:
        return
    clones = profile.operators(("aten::clone",), ("forward",))
    seconds = sum(each.total for each in clones)
    if not clones or profile.share(seconds) < min_share:
        return
    copy = _where(profile)
    calls = sum(each.calls for each in clones) / profile.steps
    copies = f"{calls:,.0f} cop{'y' if round(calls) == 1 else 'ies'}"
    yield Finding(
        rule="layout-copies",
        severity=Severity.INFO,
        confidence=0.6,
        title=f"{copies} a step into another order in memory take {profile.told(seconds)}"
        + saved(profile, seconds, cost=seconds),
        module=copy.module or None if copy is not None else None,
        **line_of(shown(copy.place) if copy is not None else None),
        evidence=profile.evidence(seconds, min_share)
        | saves(profile, seconds)
        | {"copies a step": float(f"{calls:.3g}")},
        why="A copy computes nothing, and its values go through memory twice; some of them can be left out.",
        fix="x.transpose(1, 2)  # without .contiguous() or .reshape() after it, where the next operator takes it so",
    )


def _where(profile: Profile) -> OperatorCost | None:
    placed = [each for each in profile.operators(COPIES, ("forward",)) if each.place is not None]
    return placed[0] if placed else None
