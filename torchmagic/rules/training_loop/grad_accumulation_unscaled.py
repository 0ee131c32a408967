"""Gradients of several batches are added up, and the sum is not divided by their number.

*Symptom*: training with accumulation is less stable than with one large batch, as if the learning rate were higher.

*Why it happens*: ``backward()`` adds to ``.grad``. A criterion that takes the mean over its batch gives, after ``k``
batches, the sum of ``k`` means: the gradient is ``k`` times that of the large batch.

*What to try*: divide each loss by the number of batches before its backward: ``(loss / k).backward()``.

*Source*: PyTorch documentation, "Automatic Mixed Precision examples" (gradient accumulation); Hugging Face Accelerate,
"Performing gradient accumulation".
"""

from collections.abc import Iterator, Sequence

from torchmagic.analyses.gradient_lines import scales_gradients
from torchmagic.analyses.texts import says
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.loop import AccumulationRecord
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run

# The catalogue asks for three such steps of at least two batches.
MIN_STEPS = 3
MIN_BATCHES = 2


@rule
def grad_accumulation_unscaled(
    run: Run, *, min_steps: int = MIN_STEPS, min_batches: int = MIN_BATCHES
) -> Iterator[Finding]:
    """Report each optimizer whose steps use the sum of several batches' mean losses."""
    found = [record for record in run.of(AccumulationRecord) if record.num_backwards >= min_batches]
    if not found or says(run, scales_gradients):
        return  # the sum may be divided by hand
    for optimizer in dict.fromkeys(record.optimizer for record in found):
        records = [record for record in found if record.optimizer == optimizer]
        if len(records) >= min_steps:
            yield _finding(optimizer, records, min_steps)


def _finding(optimizer: str, records: Sequence[AccumulationRecord], min_steps: int) -> Finding:
    first = records[0]
    most = max(record.num_backwards for record in records)
    return Finding(
        rule="grad-accumulation-unscaled",
        severity=Severity.WARNING,
        confidence=0.9,
        title=f"{optimizer} steps on the sum of {most} batches' mean losses, not on their mean",
        optimizer=optimizer,
        **line_of(first.place),
        step=first.step,
        evidence={
            "backward passes a step": most,
            "steps": len(records),
            "threshold": min_steps,
            "criterion": first.criterion,
        },
        why=f"Each loss is the mean of its own batch, so that the gradient is {most} times that of one large batch.",
        fix=f"(loss / {most}).backward()",
    )
