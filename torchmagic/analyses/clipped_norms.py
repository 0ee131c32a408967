"""This file is the clipped norms: how long gradients were before and after a line that bounds them."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from torchmagic.analyses.loss_curve import LossCurve
from torchmagic.records.precision import Deed, ScaledGradientsRecord
from torchmagic.session.run import Run

# Norms that lie within this share of each other were made equal, where losses of the same steps differ by so much.
SAME_NORM, OTHER_BATCHES = 1e-4, 2e-3
MIN_STEPS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ClippedNorms:
    """The norms of the steps whose gradients came from a line that clips.

    Args:
        before: Norms before clipping, those of the steps in ``after`` and others.
        after: Norms that the steps used.
        times: By how much each of these is shorter than before.
    """

    before: Sequence[float]
    after: Sequence[float]
    times: Sequence[float]


def clipped_norms(run: Run) -> ClippedNorms | None:
    """Return the norms before and after clipping; None where nothing clips, or one of them has a scale in it."""
    if any(record.deed is Deed.CLIP for record in run.of(ScaledGradientsRecord)):
        return None
    before = dict(zip(*run.series("grad_norm_before_clip"), strict=True))
    after = dict(zip(*run.series("grad_norm", name=""), strict=True))
    if not before:
        return None
    return ClippedNorms(
        before=list(before.values()),
        after=[after[step] for step in before if step in after],
        times=[before[step] / after[step] for step in before if after.get(step, 0.0) > 0],
    )


def held_norm(run: Run, curve: LossCurve) -> float:
    """Return the one norm that all gradients have, though the batches differ: a line of the user's sets it; else 0."""
    norms = [norm for norm in run.series("grad_norm", name="")[1] if norm > 0]
    usual = median(norms) if len(norms) >= MIN_STEPS else 0.0
    differ = bool(curve.values.std() > OTHER_BATCHES * abs(curve.values.mean()))
    return usual if differ and usual and max(norms) - min(norms) <= SAME_NORM * usual else 0.0
