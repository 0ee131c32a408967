"""The optimizer steps by itself on gradients that a GradScaler has scaled.

*Symptom*: with SGD the loss explodes at once; with Adam training runs, but weight decay, clipping and epsilon are off,
and an overflow goes straight into the weights.

*Why it happens*: ``scaler.scale(loss).backward()`` multiplies all gradients by the scale. ``scaler.step(optimizer)``
takes it out again and leaves out steps that overflowed; ``optimizer.step()`` does neither.

*What to try*: replace ``optimizer.step()`` by ``scaler.step(optimizer)`` and then call ``scaler.update()``, once
for all optimizers of one scaler.

*Source*: PyTorch documentation, "Automatic mixed precision examples: typical mixed precision training".
"""

import re
from collections.abc import Iterator

from torchmagic.analyses.scaling_by_hand import unscales_by_hand
from torchmagic.analyses.source_calls import calls_on, scaler_in
from torchmagic.analyses.texts import says, texts_of
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.precision import Deed, GradScalerRecord, ScaledGradientsRecord, ScalerUseRecord
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run

# With a scale of one nothing is multiplied.
MIN_SCALE = 1.0
# What the line of the step calls the optimizer.
STEPPED = re.compile(r"([\w.]+)\.step\(")


@rule
def unscaled_step(run: Run, *, min_scale: float = MIN_SCALE) -> Iterator[Finding]:
    """Report the first step that an optimizer took past the scaler."""
    found = [
        record for record in run.of(ScaledGradientsRecord) if record.deed is Deed.STEP and not record.scale <= min_scale
    ]
    if not found or says(run, unscales_by_hand):
        return
    words = STEPPED.search(found[0].place.source) if found[0].place is not None else None
    optimizer = words[1] if words else next((record.optimizer for record in run.of(GradScalerRecord)), None)
    scale = max((record.scale for record in found if record.scale > 0), default=float("nan"))
    count = max([record.num_past for record in run.of(ScalerUseRecord)] + [len(found)])
    scaler = scaler_in(*texts_of(run))
    step = f"{scaler}.step({optimizer or 'optimizer'})"
    last = scaler.rpartition(".")[2]
    updates = says(run, lambda text: any(last in about for _, about in calls_on(text, "update")))
    yield Finding(
        rule="unscaled-step",
        severity=Severity.ERROR,
        confidence=0.95,
        title=f"{count} steps used gradients that were still multiplied by the loss scale",
        optimizer=optimizer,
        **line_of(found[0].place),
        step=found[0].step,
        evidence={"scale": scale, "threshold": min_scale, "steps": count},
        why="Only scaler.step takes the scale out again, and leaves out a step whose gradients overflowed.",
        fix=f"{step}  # before the one {scaler}.update()" if updates else f"{step}; {scaler}.update()",
    )
