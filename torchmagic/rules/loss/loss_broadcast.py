"""Prediction and target of a loss have different shapes and are stretched against each other.

*Symptom*: the loss stops at the variance of the targets; predictions are all alike.

*Why it happens*: a prediction of shape (N, 1) and a target of shape (N,) broadcast to (N, N), so that every prediction
is compared with every target.

*What to try*: give both the same shape: ``pred.squeeze(1)`` or ``target.unsqueeze(1)``.

*Source*: PyTorch issues 16045 and 105739; the warning of ``mse_loss`` itself.
"""

from collections.abc import Iterator

from torchmagic.records.finding import Finding, Severity
from torchmagic.records.loss import BroadcastRecord
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run


@rule
def loss_broadcast(run: Run) -> Iterator[Finding]:
    """Report each line at which a loss stretched its operands."""
    records = run.of(BroadcastRecord)
    for place in dict.fromkeys(record.place for record in records):
        here = [record for record in records if record.place == place]
        first = here[0]
        ranks_differ = len(first.input_shape) != len(first.target_shape)
        squeezed = len(first.input_shape) > len(first.target_shape)
        yield Finding(
            rule="loss-broadcast",
            severity=Severity.ERROR,
            confidence=0.97 if ranks_differ else 0.7,
            title=f"{first.loss} stretches {first.input_shape} and {first.target_shape} to {first.output_shape}",
            **line_of(place),
            step=first.step,
            evidence={
                "prediction": str(first.input_shape),
                "target": str(first.target_shape),
                "compared": str(first.output_shape),
                "times": len(here),
            },
            why="The shapes differ, so each prediction is compared with every target: the best answer is then the mean "
            "of all targets.",
            fix="pred.squeeze(1)  # the same shape for both"
            if squeezed
            else "target.squeeze(1)  # the same shape for both",
        )
