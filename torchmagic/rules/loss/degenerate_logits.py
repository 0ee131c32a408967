"""The loss compares one class only, and cannot depend on the model.

*Symptom*: the loss is exactly 0 from the first step on (or one constant), and all gradients are 0.

*Why it happens*: a softmax over one value is always 1. A last layer with one output and ``cross_entropy``, or a softmax
over a single column, leave nothing to choose between.

*What to try*: for two classes use two outputs with ``cross_entropy``, or one output with
``binary_cross_entropy_with_logits`` and float targets; otherwise one output a class.

*Source*: PyTorch documentation of ``CrossEntropyLoss`` and ``BCEWithLogitsLoss``; Stack Overflow question 57161576.
"""

from collections.abc import Iterator

from torchmagic.analyses.loss_inputs import input_lines
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.loss import LossInputRecord, SoftmaxAxisRecord
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run

# All batches that were looked at, and this many: the last batch of a contrastive loss can hold one sample.
MIN_BATCHES = 3
CLASS_LOSSES = ("cross_entropy", "nll_loss")
LOSSES = (
    *CLASS_LOSSES, "binary_cross_entropy", "binary_cross_entropy_with_logits", "mse_loss", "l1_loss", "smooth_l1_loss",
    "huber_loss", "kl_div",
)  # fmt: skip


@rule
def degenerate_logits(run: Run, *, min_batches: int = MIN_BATCHES) -> Iterator[Finding]:
    """Report each loss line whose every batch had one class, or the softmax of one value.

    In a loss that is written out, only where the gradients of the whole run are 0.
    """
    told = False
    for records in input_lines(run, LOSSES):
        single = [record for record in records if _is_single(record)]
        if len(single) < min_batches or len(single) < len(records):
            continue
        first = single[0]
        producer = next((record.producer for record in single if record.producer), None)
        what = "the softmax of a single value" if first.single else "a single class"
        told = True
        title = f"{first.loss} gets {what}: it cannot depend on the model"
        yield _finding(title, first, module=producer, num_batches=len(single), threshold=min_batches)
    alone = [record for record in run.of(SoftmaxAxisRecord) if record.reason == "alone"]
    norms = run.series("grad_norm", name="")[1]
    if not told and len(alone) >= min_batches and len(norms) and not any(norms):
        one = alone[0]
        what = f"{one.function} of a single value, {one.shape} over dimension {one.dim}"
        title = f"{what}: the loss cannot depend on the model"
        yield _finding(title, one, module=one.module, num_batches=len(alone), threshold=min_batches)


def _finding(
    title: str, record: LossInputRecord | SoftmaxAxisRecord, *, module: str | None, num_batches: int, threshold: int
) -> Finding:
    return Finding(
        rule="degenerate-logits",
        severity=Severity.ERROR,
        confidence=0.97,
        title=title,
        module=module,
        **line_of(record.place),
        step=record.step,
        evidence={"classes": 1, "batches": num_batches, "threshold": threshold},
        why="The probability of the only class is 1 whatever the score is; the gradient of every parameter is 0.",
        fix="nn.Linear(…, num_classes) with cross_entropy, or one output with binary_cross_entropy_with_logits",
    )


def _is_single(record: LossInputRecord) -> bool:
    return record.single or (record.loss in CLASS_LOSSES and record.num_classes == 1 and not record.log_above)
