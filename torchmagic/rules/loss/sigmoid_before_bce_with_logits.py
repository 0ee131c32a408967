"""binary_cross_entropy_with_logits is given probabilities instead of logits.

*Symptom*: the loss stops far above zero (near 0.31 for perfect answers); predicted probabilities stay between 0.5 and
0.73.

*Why it happens*: the loss applies a sigmoid itself. After a sigmoid in the model it is taken twice, and the sigmoid of
a value between 0 and 1 lies between 0.5 and 0.73.

*What to try*: remove the sigmoid from the model and take it only where probabilities are shown, or keep it and use
``binary_cross_entropy``.

*Source*: PyTorch documentation of ``BCEWithLogitsLoss``; Nikanjam et al., NeuraLint, TOSEM 2021.
"""

from collections.abc import Iterator

from torchmagic.analyses.loss_inputs import input_lines
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.loss import LossInputRecord
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run

# Batches in which the node was a sigmoid's, and every value in its range.
MIN_BATCHES = 3
WITH_LOGITS = ("binary_cross_entropy_with_logits", "multilabel_soft_margin_loss")


@rule
def sigmoid_before_bce_with_logits(run: Run, *, min_batches: int = MIN_BATCHES) -> Iterator[Finding]:
    """Report each loss line that was given sigmoids over several batches."""
    for records in input_lines(run, (*WITH_LOGITS, "binary_cross_entropy")):
        squashed = [record for record in records if _is_squashed_twice(record)]
        if len(squashed) < min_batches:
            continue
        first = squashed[0]
        producer = next((record.producer for record in squashed if record.producer), None)
        function = first.source if first.loss in WITH_LOGITS else "second sigmoid"
        yield Finding(
            rule="sigmoid-before-bce-with-logits",
            severity=Severity.ERROR,
            confidence=0.97 if first.source == "sigmoid" else 0.9,
            title=f"{first.loss} gets the output of a {function}" + (f" in {producer}" if producer else ""),
            module=producer,
            **line_of(first.place),
            step=first.step,
            evidence={
                "batches": len(squashed),
                "threshold": min_batches,
                "least value": min(record.low for record in squashed),
                "greatest value": max(record.high for record in squashed),
            },
            why="A sigmoid is taken twice: the second one sees values between 0 and 1 only, so that no prediction can "
            "become confident.",
            fix="return the raw scores: remove the sigmoid before the loss",
        )


def _is_squashed_twice(record: LossInputRecord) -> bool:
    """Whether a loss that squashes got squashed values, or one that does not, values squashed twice."""
    if record.loss in WITH_LOGITS:
        return record.source in ("sigmoid", "softmax") and record.low >= 0 and record.high <= 1
    return record.source == record.inner == "sigmoid"
