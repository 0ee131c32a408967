"""Gradients are clipped while they are still multiplied by the scale of a GradScaler.

*Symptom*: training with mixed precision is far slower than without; every step is tiny.

*Why it happens*: ``scaler.scale(loss).backward()`` leaves gradients that are thousands of times too large, so each norm
is above the limit. After clipping ``scaler.step`` divides by the scale, and next to nothing is left.

*What to try*: call ``scaler.unscale_(optimizer)`` before clipping; ``scaler.step`` then does not unscale again.

*Source*: PyTorch documentation, "Automatic mixed precision examples: gradient clipping"; pytorch/examples issue 1196.
"""

from collections.abc import Iterator

from torchmagic.analyses.source_calls import scaler_in
from torchmagic.analyses.step_names import as_in_code
from torchmagic.analyses.texts import texts_of
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.precision import Deed, GradScalerRecord, ScaledGradientsRecord, ScalerUseRecord
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run

# With a scale of one nothing is multiplied.
MIN_SCALE = 1.0
# A limit that is multiplied by the scale fits gradients that are.
SCALES_THE_LIMIT = "get_scale"


@rule
def clip_before_unscale(run: Run, *, min_scale: float = MIN_SCALE) -> Iterator[Finding]:
    """Report the first clipping of gradients that were still scaled."""
    found = [
        record
        for record in run.of(ScaledGradientsRecord)
        if record.deed is Deed.CLIP
        and not record.scale <= min_scale
        and not (record.place is not None and SCALES_THE_LIMIT in record.place.source)
    ]
    if not found:
        return
    optimizer = next((record.optimizer for record in run.of(GradScalerRecord)), "optimizer")
    scale = max((record.scale for record in found if record.scale > 0), default=float("nan"))
    count = max([record.num_clipped_while_scaled for record in run.of(ScalerUseRecord)] + [len(found)])
    yield Finding(
        rule="clip-before-unscale",
        severity=Severity.ERROR,
        confidence=0.95,
        title=f"gradients are clipped while they are still multiplied by {scale:g}",
        optimizer=optimizer,
        **line_of(found[0].place),
        step=found[0].step,
        evidence={"scale": scale, "threshold": min_scale, "times": count},
        why="The limit is compared with gradients that are larger by the scale: after unscaling, the step is that much "
        "too small.",
        fix=f"{scaler_in(*texts_of(run))}.unscale_({as_in_code(run, optimizer)})  # before clipping",
    )
