"""cross_entropy is given probabilities instead of logits.

*Symptom*: the loss falls slowly and stops far above zero (near 1.46 for ten classes); gradients are small.

*Why it happens*: ``cross_entropy`` applies log-softmax itself. After a softmax in the model, the softmax is taken twice
and can never become confident.

*What to try*: remove the softmax from the model and give the raw scores; take a softmax only where probabilities are
shown.

*Source*: PyTorch documentation of ``CrossEntropyLoss`` ("unnormalized logits"); Schoop et al., UMLAUT, CHI 2021.
"""

from collections.abc import Iterator

from torchmagic.records.finding import Finding, Severity
from torchmagic.records.loss import ProbabilityInputRecord
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run

# Batches whose every row must sum to one: logits do not do that by chance.
MIN_BATCHES = 3
MIN_ROWS = 8


@rule
def softmax_before_cross_entropy(run: Run) -> Iterator[Finding]:
    """Report each loss line that was given probabilities over several batches."""
    records = run.of(ProbabilityInputRecord)
    for place in dict.fromkeys(record.place for record in records):
        here = [record for record in records if record.place == place]
        if len(here) < MIN_BATCHES or sum(record.rows for record in here) < MIN_ROWS:
            continue
        first = here[0]
        in_forward = first.producer_place is not None and first.producer_place.function == "forward"
        yield Finding(
            rule="softmax-before-cross-entropy",
            severity=Severity.ERROR,
            confidence=0.97 if first.producer or first.producer_place else 0.9,
            title=f"{first.loss} gets probabilities" + _origin(first.producer, in_forward=in_forward),
            module=first.producer,
            **line_of(first.producer_place if in_forward else place),
            step=first.step,
            evidence={
                "batches of probabilities": len(here),
                "threshold": MIN_BATCHES,
                "largest distance from 1": max(record.deviation for record in here),
                "rows looked at": sum(record.rows for record in here),
            },
            why="cross_entropy applies log-softmax itself; on probabilities it is taken twice, so that the loss cannot "
            "come near zero and gradients stay small.",
            fix="return the raw scores: remove the softmax before the loss",
        )


def _origin(producer: str | None, *, in_forward: bool) -> str:
    if producer is None:
        return ""
    return f" from the softmax in the forward of {producer}" if in_forward else f" from {producer}"
