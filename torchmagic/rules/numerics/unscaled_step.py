"""The optimizer steps by itself on gradients that a GradScaler has scaled.

*Symptom*: with SGD the loss explodes at once; with Adam training runs, but weight decay, clipping and epsilon are off,
and an overflow goes straight into the weights.

*Why it happens*: ``scaler.scale(loss).backward()`` multiplies all gradients by the scale. ``scaler.step(optimizer)``
takes it out again and leaves out steps that overflowed; ``optimizer.step()`` does neither.

*What to try*: replace ``optimizer.step()`` by ``scaler.step(optimizer)`` and then call ``scaler.update()``, once
for all optimizers of one scaler.

*Source*: PyTorch documentation, "Automatic mixed precision examples: typical mixed precision training".
"""

from collections.abc import Iterator

from torchmagic.analyses.scaling_by_hand import unscales_by_hand
from torchmagic.analyses.source_calls import calls_on, scaler_in
from torchmagic.analyses.step_names import stepped_in, steps_each
from torchmagic.analyses.texts import says, text_around, texts_of
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.precision import Deed, GradScalerRecord, ScaledGradientsRecord, ScalerUseRecord
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run

# With a scale of one nothing is multiplied.
MIN_SCALE = 1.0


@rule
def unscaled_step(run: Run, *, min_scale: float = MIN_SCALE) -> Iterator[Finding]:
    """Report the first step that an optimizer took past the scaler."""
    found = [
        record for record in run.of(ScaledGradientsRecord) if record.deed is Deed.STEP and not record.scale <= min_scale
    ]
    if not found or says(run, unscales_by_hand):
        return
    stepped = stepped_in(found[0].place.source) if found[0].place is not None else []
    optimizer = stepped[0] if stepped else next((record.optimizer for record in run.of(GradScalerRecord)), None)
    scale = max((record.scale for record in found if record.scale > 0), default=float("nan"))
    count = max([record.num_past for record in run.of(ScalerUseRecord)] + [len(found)])
    scaler = scaler_in(*texts_of(run))
    step = f"{scaler}.step({optimizer or 'optimizer'})"
    last = scaler.rpartition(".")[2]
    updates = says(run, lambda text: any(last in about for _, about in calls_on(text, "update")))
    place = found[0].place
    each = place is not None and steps_each(text_around(run, place), place.line)
    if each:
        step += "  # for each, and only then"
    elif updates:
        step += "  # before the one"
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
        fix=f"{step} {scaler}.update()" if each or updates else f"{step}; {scaler}.update()",
    )
