"""The loss is finite, but its gradient is NaN or infinite.

*Symptom*: the loss looks fine for one more step and is NaN ever after.

*Why it happens*: an operator whose value is finite but whose derivative is not: sqrt or a norm at 0, a power below 1 at
0, ``where`` over a branch that is invalid where it is not chosen.

*What to try*: keep the argument away from the singular point: ``torch.sqrt(x + 1e-12)``; choose safe arguments before
``where``, not after.

*Source*: PyTorch issues 15506 and 23156; JAX documentation on ``where`` and gradients.
"""

from collections.abc import Iterator

from torchmagic.records.finding import Finding, Severity
from torchmagic.records.nonfinite import Birth, Cause, NonfiniteRecord
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run

DEFAULT_CURE = "keep the argument from the singular point, as in torch.sqrt(x + 1e-12) or x.clamp_min(1e-12)"
CURES = {
    Cause.MASK_LEAK: "make the argument safe before the operator too: torch.log(torch.where(ok, x, 1.0))",
    Cause.CHANGED_GRADIENT: "keep what gradients are divided by from zero, p.grad / (norm + 1e-6), or let "
    "torch.nn.utils.clip_grad_norm_ do it",
    Cause.OWN_BACKWARD: "look at the line of the custom backward, or the hook, that is named: it divides or overflows",
    Cause.HALF_OVERFLOW: "scale the loss with torch.amp.GradScaler, or compute this in float32 or bfloat16",
    Cause.OUT_OF_DOMAIN: "keep the argument from the ends of the domain: torch.acos(x.clamp(-1 + 1e-6, 1 - 1e-6))",
    Cause.REPEATED_VALUES: "go back through the values alone (torch.linalg.svdvals, eigvalsh), or part equal values by "
    "a little noise: A + 1e-6 * torch.diag(torch.rand(n))",
    Cause.SINGULAR_MATRIX: "keep the matrix from being singular: A + 1e-6 * torch.eye(A.shape[-1])",
    Cause.DIVISION_BY_ZERO: "keep the divisor from zero: x / y.clamp_min(1e-8)",
}


@rule
def nonfinite_gradient(run: Run) -> Iterator[Finding]:
    """Report the first step whose gradients are non-finite while its loss is finite."""
    for record in run.of(NonfiniteRecord):
        if record.birth is not Birth.GRADIENT:
            continue
        yield Finding(
            rule="nonfinite-gradient",
            severity=Severity.ERROR,
            confidence=0.95,
            title=f"the gradient of {record.parameter or 'the loss'} is non-finite at step {record.step}"
            + _although(record),
            module=record.module,
            parameter=record.parameter,
            **line_of(record.place),
            step=record.step,
            evidence={
                "NaN": record.num_nan,
                "Inf": record.num_inf,
                "values": record.num_elements,
                "parameters with such a gradient": record.num_parameters,
                "operator" if record.proven else "likely operator": record.op or "not seen",
                "cause": record.cause.value,
            },
            why=_reason(record),
            fix=CURES.get(record.cause, DEFAULT_CURE),
        )


def _although(record: NonfiniteRecord) -> str:
    if record.cause is Cause.CHANGED_GRADIENT:
        return " although the backward left it finite"
    return "" if record.without_loss else " although the loss is finite"


def _reason(record: NonfiniteRecord) -> str:
    if record.cause is Cause.CHANGED_GRADIENT:
        return "Run again, the backward gives finite gradients; this line changes them before the step."
    if record.without_loss:
        return "No loss was seen in this step: either it is not finite, or its derivative is not."
    likely = f"; the graph holds {record.op}, whose derivative can be infinite" if record.op else ""
    if record.proven:
        likely = f": {record.op} gives the first gradient that is not ({record.cause})"
    return f"The forward is finite and its derivative is not{likely}."
