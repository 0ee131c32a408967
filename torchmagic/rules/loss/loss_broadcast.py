"""Prediction and target of a loss have different shapes and are stretched against each other.

*Symptom*: the loss stops at the variance of the targets; predictions are all alike.

*Why it happens*: a prediction of shape (N, 1) and a target of shape (N,) broadcast to (N, N), so that every prediction
is compared with every target; (N, K) and (N, 1, K) broadcast to (N, N, K). So do N losses and weights of shape (N, 1),
and the parts of a target, before they come to the loss.

*What to try*: give both the same shape: ``pred.squeeze(1)`` or ``target.unsqueeze(1)``.

*Source*: PyTorch issues 16045 and 105739; the warning of ``mse_loss`` itself.
"""

from collections.abc import Iterator

from torchmagic.analyses.source_calls import lines_adding_products
from torchmagic.analyses.texts import beside, text_around
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.loss import WEIGHTED, BroadcastRecord
from torchmagic.records.place import Place
from torchmagic.rules.rule import Located, line_of, rule
from torchmagic.session.run import Run

STRETCHED_ABOVE = "squeeze or unsqueeze what the weights are computed from: (N, 1) with (N,) is stretched there already"


@rule
def loss_broadcast(run: Run) -> Iterator[Finding]:
    """Report each line at which a loss stretched its operands."""
    records = run.of(BroadcastRecord)
    for place in dict.fromkeys(record.place for record in records):
        here = [record for record in records if record.place == place]
        first = here[0]
        ranks_differ = len(first.input_shape) != len(first.target_shape)
        if first.loss == WEIGHTED:
            yield _weighted(run, first, len(here))
            continue
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
            fix=_fix(first.input_shape, first.target_shape),
        )


def _fix(given: tuple[int, ...], target: tuple[int, ...]) -> str:
    """Return what gives both one shape: the longer one less its dimension of one, where it has one that can go."""
    name, longer, shorter = ("pred", given, target) if len(given) > len(target) else ("target", target, given)
    axis = next((axis for axis in range(len(longer)) if longer[:axis] + longer[axis + 1 :] == shorter), None)
    if axis is not None and longer[axis] == 1:
        return f"{name}.squeeze({axis})  # the same shape for both"
    if target == 2 * given[:1]:
        return STRETCHED_ABOVE.replace("weights are", "target is")
    return "target.reshape(pred.shape)  # the same shape for both"


def _weighted(run: Run, record: BroadcastRecord, times: int) -> Finding:
    column = "weights" if len(record.target_shape) > len(record.input_shape) else "losses"
    fix = f"{column}.squeeze(1)  # the same shape for both"
    title = f"losses {record.input_shape} times weights {record.target_shape} are stretched to {record.output_shape}"
    if record.target_shape == record.output_shape:
        fix = STRETCHED_ABOVE
        title = f"{record.input_shape} values are weighed by {record.target_shape}, in which a row met a column"
    return Finding(
        rule="loss-broadcast",
        severity=Severity.ERROR,
        confidence=0.93,
        title=title,
        **_adding(run, record.place),
        step=record.step,
        evidence={
            "losses": str(record.input_shape),
            "weights": str(record.target_shape),
            "products": str(record.output_shape),
            "times": times,
        },
        why="Each loss meets every weight, and the sum of it all is the sum of the losses times that of the weights: "
        "which loss has which weight makes no difference.",
        fix=fix,
    )


def _adding(run: Run, backward: Place | None) -> Located:
    """Return the only line of the cell that adds products up, else that of the backward."""
    lines = lines_adding_products(text_around(run, backward))
    return line_of(beside(run, backward, lines[0]) if backward is not None and len(lines) == 1 else backward)
