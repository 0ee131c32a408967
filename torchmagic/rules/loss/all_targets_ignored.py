"""In a batch all targets are ignored, so that the mean of the loss is zero over zero.

*Symptom*: the loss is NaN in some batches, then every weight is.

*Why it happens*: ``cross_entropy`` divides by the number of targets that count. Where each of them is ``ignore_index``
(a batch of padding only, or of samples without a label) that number is 0.

*What to try*: leave such batches out, or use ``reduction="sum"`` and divide by at least 1.

*Source*: PyTorch issue 70348; documentation of ``CrossEntropyLoss`` (``ignore_index``).
"""

from collections.abc import Iterator

from torchmagic.records.finding import Finding, Severity
from torchmagic.records.nonfinite import Cause, NonfiniteRecord
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run


@rule
def all_targets_ignored(run: Run) -> Iterator[Finding]:
    """Report the batch whose loss had no target left."""
    for record in run.of(NonfiniteRecord):
        if record.cause is not Cause.NO_TARGETS:
            continue
        yield Finding(
            rule="all-targets-ignored",
            severity=Severity.ERROR,
            confidence=0.95,
            title=f"all targets of the batch at step {record.step} are ignored: its loss is 0 / 0",
            **line_of(record.place),
            step=record.step,
            evidence={"operation": record.op or "loss", "operands": record.operands},
            why="The mean is taken over the targets that are not ignore_index; there were none.",
            fix='F.cross_entropy(…, reduction="sum") / (target != ignore_index).sum().clamp(min=1)',
        )
        return
