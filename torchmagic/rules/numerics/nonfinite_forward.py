"""Finite inputs become NaN or infinite inside the model or its loss.

*Symptom*: the loss is NaN or infinite although the batch is clean.

*Why it happens*: log of zero, division by zero, an exponential that overflows, or weights that an earlier step blew up.

*What to try*: look at the operator named and at what it was given: clamp its argument, add a small constant, or use the
stable form (``log_softmax``, ``logsumexp``, ``binary_cross_entropy_with_logits``).

*Source*: Zhang et al., DEBAR, FSE 2020; Wardat et al., DeepLocalize, ICSE 2021.
"""

from collections.abc import Iterator

from torchmagic.records.finding import Finding, Severity
from torchmagic.records.nonfinite import Birth, NonfiniteRecord
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run

# What helps against each operator; the key is the beginning of its name.
CURES = {
    "log": "clamp the argument: torch.log(x.clamp_min(1e-8))",
    "div": "keep the divisor from zero: x / y.clamp_min(1e-8)",
    "sqrt": "keep the argument above zero: torch.sqrt(x.clamp_min(0) + 1e-8)",
    "exp": "use the stable form: log_softmax, logsumexp or a loss with logits",
    "pow": "keep base and exponent in range, or work with logarithms",
    "binary_cross_entropy": "give logits to binary_cross_entropy_with_logits",
}


@rule
def nonfinite_forward(run: Run) -> Iterator[Finding]:
    """Report the operator, or the parameter, at which the first non-finite value appeared."""
    for record in run.of(NonfiniteRecord):
        if record.birth is Birth.FORWARD:
            yield _made(record)
        elif record.birth is Birth.PARAMETER:
            yield _spread(record)


def _made(record: NonfiniteRecord) -> Finding:
    what = record.op or "an operator"
    given = f" given {record.operands}" if record.operands else ""
    cure = next((text for op, text in CURES.items() if (record.op or "").startswith(op)), "")
    return Finding(
        rule="nonfinite-forward",
        severity=Severity.ERROR,
        confidence=0.95 if record.op else 0.8,
        title=f"{what} makes the first non-finite value at step {record.step}, in {record.module or 'the loss'}",
        module=record.module,
        **line_of(record.place),
        step=record.step,
        evidence={
            "operator": what,
            "operands": record.operands or "not seen",
            "NaN": record.num_nan,
            "Inf": record.num_inf,
            "values": record.num_elements,
        },
        why=f"Inputs and parameters were finite; {what}{given} gave the first value that is not.",
        fix=cure or "keep the argument of this operator in range, or lower the learning rate if weights blew up",
    )


def _spread(record: NonfiniteRecord) -> Finding:
    return Finding(
        rule="nonfinite-forward",
        severity=Severity.ERROR,
        confidence=0.9,
        title=f"{record.parameter} is non-finite before the forward at step {record.step}",
        module=record.module,
        parameter=record.parameter,
        **line_of(record.place),
        step=record.step,
        evidence={"NaN": record.num_nan, "Inf": record.num_inf, "values": record.num_elements},
        why="The parameter itself is not finite: an update overflowed, or it was made or loaded so.",
        fix="lower the learning rate or clip gradients; check what the parameter was made from",
    )
