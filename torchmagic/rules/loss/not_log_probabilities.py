"""A loss that wants logarithms of probabilities is given raw scores, or the probabilities themselves.

*Symptom*: the loss falls below zero and on without end, or stays between -1 and 0; the accuracy is poor or unstable.

*Why it happens*: ``nll_loss`` picks the value of the right class and turns its sign, ``kl_div`` and ``ctc_loss`` add up
what they are given. Nothing in them normalises: a score can be made as large as one likes.

*What to try*: end in ``log_softmax`` over the classes, or use ``cross_entropy`` on the raw scores. For ``kl_div`` the
input is ``log_softmax(scores)`` and the target a probability.

*Source*: PyTorch documentation of ``NLLLoss`` and ``KLDivLoss``; Stack Overflow question 53980031.
"""

from collections.abc import Iterator, Sequence

from torchmagic.analyses.loss_inputs import input_lines
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.loss import LossInputRecord
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run

# Batches of which each must hold something else than log-probabilities.
MIN_BATCHES = 3
# A smoothed or clamped logarithm sums to nearly 1; scores are far from it: 0.1 is a sum of 1.1 or 0.9.
MIN_ERROR = 0.1
LOSSES = ("nll_loss", "kl_div", "ctc_loss")
WORDS = {"softmax": "probabilities", "sigmoid": "probabilities"}


@rule
def not_log_probabilities(
    run: Run, *, min_batches: int = MIN_BATCHES, min_error: float = MIN_ERROR
) -> Iterator[Finding]:
    """Report each loss line whose inputs, over several batches, are no logarithms of probabilities."""
    for records in input_lines(run, LOSSES):
        wrong = [record for record in records if _is_wrong(record, min_error)]
        if len(wrong) < min_batches or len(wrong) < len(records):
            continue
        yield _finding(wrong, min_batches, min_error)


def _is_wrong(record: LossInputRecord, min_error: float) -> bool:
    """A weighted logarithm, as in a focal loss, need not sum to 1; one over another dimension has its own rule."""
    if record.log_above or record.source in ("log_softmax", "log", "log_sigmoid") or record.num_classes < 2:  # noqa: PLR2004 - a choice
        return False
    return record.log_error > min_error


def _finding(wrong: Sequence[LossInputRecord], min_batches: int, min_error: float) -> Finding:
    first = wrong[0]
    probabilities = first.source in WORDS or all(record.low >= 0 and record.sum_error < min_error for record in wrong)
    what = "probabilities" if probabilities else "raw scores"
    producer = next((record.producer for record in wrong if record.producer), None)
    low, high = min(record.low for record in wrong), max(record.high for record in wrong)
    fix = (
        "F.log_softmax(scores, dim=1)  # then the loss" if first.loss == "nll_loss" else "F.log_softmax(scores, dim=-1)"
    )
    return Finding(
        rule="not-log-probabilities",
        severity=Severity.ERROR,
        confidence=0.95,
        title=f"{first.loss} gets {what} from {low:.3g} to {high:.3g} instead of log-probabilities",
        module=producer,
        **line_of(first.place),
        step=first.step,
        evidence={
            "batches": len(wrong),
            "threshold": min_batches,
            "least value": low,
            "greatest value": high,
            "least distance of log-sum-exp from 0": min(record.log_error for record in wrong),
            "largest allowed": min_error,
        },
        why="The exponentials of log-probabilities sum to 1 over the classes, so that none can be above 0; these do "
        "not, and the loss can fall without the predictions getting better.",
        fix=f"{fix}, or F.cross_entropy on the raw scores" if first.loss == "nll_loss" else fix,
    )
