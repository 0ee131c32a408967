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
from torchmagic.records.place import Place
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
        inside = _inside_model(first)
        yield Finding(
            rule="softmax-before-cross-entropy",
            severity=Severity.ERROR,
            confidence=0.97 if first.producer or first.producer_place else 0.9,
            title=f"{first.loss} gets probabilities" + _origin(first.producer, inside),
            module=first.producer,
            **line_of(inside or place),
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


def _inside_model(record: ProbabilityInputRecord) -> Place | None:
    """Return the line of the softmax where it stands in a method of the model, or what the model calls."""
    made, loss = record.producer_place, record.place
    if made is None or made.function == "forward":
        return made
    beside = made.function == "<module>" or (loss is not None and made.function == loss.function)
    return None if beside or record.producer is None else made


def _origin(producer: str | None, inside: Place | None) -> str:
    if producer is None:
        return ""
    where = "the forward" if inside is not None and inside.function == "forward" else inside and inside.function
    return f" from the softmax in {where} of {producer}" if where else f" from {producer}"
