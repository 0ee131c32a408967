"""A loss that wants logarithms of probabilities is given raw scores, or the probabilities themselves.

*Symptom*: the loss falls below zero and on without end, or stays between -1 and 0; the accuracy is poor or unstable.

*Why it happens*: ``nll_loss`` picks the value of the right class and turns its sign, ``kl_div`` and ``ctc_loss`` add up
what they are given. Nothing in them normalises: a score can be made as large as one likes. Some trainers take the
logarithm themselves and count on a model that ends in a softmax; the logarithm of a score below zero is no number.

*What to try*: end in ``log_softmax`` over the classes, or use ``cross_entropy`` on the raw scores. For ``kl_div`` the
input is ``log_softmax(scores)`` and the target a probability.

*Source*: PyTorch documentation of ``NLLLoss`` and ``KLDivLoss``; Stack Overflow question 53980031.
"""

import math
from collections.abc import Iterator, Sequence

from torchmagic.analyses.loss_inputs import input_lines
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.loss import LossInputRecord
from torchmagic.records.nonfinite import Birth, NonfiniteRecord
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run

# Batches of which each must hold something else than log-probabilities.
MIN_BATCHES = 3
# A smoothed or clamped logarithm sums to nearly 1; scores are far from it: 0.1 is a sum of 1.1 or 0.9.
MIN_ERROR = 0.1
LOSSES = ("nll_loss", "kl_div", "ctc_loss")
# What makes no probabilities of scores; the empty word is a layer.
UNSQUASHED = ("", "relu", "softplus", "tanh", "sigmoid")
WORDS = {"softmax": "probabilities", "sigmoid": "probabilities"}


@rule
def not_log_probabilities(
    run: Run, *, min_batches: int = MIN_BATCHES, min_error: float = MIN_ERROR
) -> Iterator[Finding]:
    """Report each loss line whose inputs, over several batches, are no logarithms of probabilities."""
    negative = any(each.birth is Birth.FORWARD and each.op == "log" for each in run.of(NonfiniteRecord))
    for records in input_lines(run, LOSSES):
        logs = [each for each in records if _is_log_of_scores(each, min_error, negative=negative)]
        if len(logs) >= min_batches and len(logs) == len(records):
            yield _log_of_scores(logs, min_batches, min_error)
            continue
        wrong = [record for record in records if _is_wrong(record, min_error)]
        if len(wrong) < min_batches or len(wrong) < len(records):
            continue
        yield _finding(wrong, min_batches, min_error)


def _is_wrong(record: LossInputRecord, min_error: float) -> bool:
    """A weighted logarithm, as in a focal loss, need not sum to 1; one over another dimension has its own rule."""
    if record.log_above or record.source in ("log_softmax", "log", "log_sigmoid") or record.num_classes < 2:  # noqa: PLR2004 - a choice
        return False
    return record.log_error > min_error


def _is_log_of_scores(record: LossInputRecord, min_error: float, *, negative: bool) -> bool:
    """Whether a class is picked from logarithms of what neither a softmax nor a sum made probabilities of."""
    if record.loss != "nll_loss" or record.num_classes < 2 or record.partial:  # noqa: PLR2004 - a choice
        return False
    if record.source == "log_sigmoid":
        return record.log_error > min_error
    if record.source != "log":
        return False
    return record.inner in UNSQUASHED and (record.log_error > min_error or (negative and math.isnan(record.log_error)))


def _log_of_scores(wrong: Sequence[LossInputRecord], min_batches: int, min_error: float) -> Finding:
    first, errors = wrong[0], [record.log_error for record in wrong if not math.isnan(record.log_error)]
    by_hand = first.place is not None and ("log" in first.place.source or "nll" in first.place.source)
    scores = "F.cross_entropy on the raw scores" if by_hand else "criterion=nn.CrossEntropyLoss, which takes raw scores"
    what = "sigmoids, which" if "sigmoid" in first.inner + first.source else "raw scores, which"
    told = {"least distance of their sum's logarithm from 0": min(errors)} if errors else {"logarithms": "not finite"}
    return Finding(
        rule="not-log-probabilities",
        severity=Severity.ERROR,
        confidence=0.95 if not errors else 0.9,
        title=f"{first.loss} gets logarithms of {what} do not sum to 1 over the classes",
        module=first.producer,
        **line_of(first.place),
        step=first.step,
        evidence={"batches": len(wrong), "threshold": min_batches, **told, "largest allowed": min_error},
        why="The logarithm is taken of what the model gives"
        + ("" if by_hand else ", as the trainer does for this loss")
        + ": that must be above 0 and sum to 1 over the classes, and it does not.",
        fix=f"end the model in .softmax(dim=1); or {scores}",
    )


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
