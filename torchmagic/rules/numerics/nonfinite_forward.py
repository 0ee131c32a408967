"""Finite inputs become NaN or infinite inside the model or its loss.

*Symptom*: the loss is NaN or infinite although the batch is clean.

*Why it happens*: log of zero, division by zero, an exponential that overflows, weights that an earlier step blew up, or
what the model or its optimizer keeps between steps: running statistics of batch norm, which only evaluation reads,
moments of Adam.

*What to try*: look at the operator named and at what it was given: clamp its argument, add a small constant, or use the
stable form (``log_softmax``, ``logsumexp``, ``binary_cross_entropy_with_logits``).

*Source*: Zhang et al., DEBAR, FSE 2020; Wardat et al., DeepLocalize, ICSE 2021.
"""

from collections.abc import Iterator

from torchmagic.analyses.model_names import parameters_in
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.loop import BY_HAND
from torchmagic.records.nonfinite import Birth, Cause, NonfiniteRecord
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
# What helps where the operator alone does not say it.
CURES_OF_CAUSES = {
    Cause.LOG_OF_NEGATIVE: "the argument is negative: make it positive as it is computed, by F.softplus(x) or x.exp(), "
    "or take torch.log(x.abs()) where only its size is meant",
    Cause.NORM_AT_ZERO: "keep the norm from zero: x / x.norm(dim=-1, keepdim=True).clamp_min(1e-8), or F.normalize(x)",
    Cause.SQRT_OF_NEGATIVE: "keep the argument above zero: torch.sqrt(x.clamp_min(0) + 1e-8)",
    Cause.MASKED_ROW: "leave a position open in every row of the mask, or zero such rows after the softmax",
    Cause.SINGLE_ELEMENT: "take the spread with correction=0, or skip groups of one element (drop_last=True)",
    Cause.EMPTY_REDUCTION: "skip the term when nothing is selected: if mask.any(): loss = loss + values[mask].mean()",
    Cause.NO_TARGETS: "skip batches whose targets are all ignored, or sum and divide by the count clamped to one",
    Cause.HALF_OVERFLOW: "compute this in float32 (or bfloat16), which reaches 3e38 where float16 ends at 65504",
    Cause.EXPLODED_WEIGHTS: "lower the learning rate, or torch.nn.utils.clip_grad_norm_({parameters}, 1.0)",
    Cause.OUT_OF_DOMAIN: "clamp the argument into the function's domain: torch.acos(x.clamp(-1 + 1e-6, 1 - 1e-6))",
    Cause.INFINITY_MINUS_INFINITY: "use a large finite number instead of infinity: torch.finfo(x.dtype).min / 2",
    Cause.ZERO_TIMES_INFINITY: "select instead of multiplying: torch.where(mask, x, 0.0), x.masked_fill(~mask, 0.0), "
    "or use a large finite number instead of infinity",
    Cause.SINGULAR_MATRIX: "keep the matrix from being singular: A + 1e-6 * torch.eye(A.shape[-1])",
    Cause.LONG_TARGET: "leave out samples whose target needs more steps than their input has (repeated labels need one "
    "more each), or CTCLoss(zero_infinity=True)",
    Cause.BAD_CONSTANT: "look where the infinite number comes from: a schedule, a scale, or a best value so far",
}
# What helps against an update that breaks.
UPDATE_CURES = {
    Cause.ZERO_OVER_ZERO: "give the optimizer an eps above zero, such as 1e-8: it divides by a moment that is zero",
    Cause.DIVISION_BY_ZERO: "give the optimizer an eps above zero, such as 1e-8: it divides by a moment that is zero",
    Cause.BAD_CONSTANT: "look at the learning rate and its schedule: a setting of the optimizer is not finite",
}


@rule
def nonfinite_forward(run: Run) -> Iterator[Finding]:
    """Report the operator, or the parameter, at which the first non-finite value appeared."""
    for record in run.of(NonfiniteRecord):
        if record.birth is Birth.FORWARD:
            yield _made(record, parameters_in(run, record.module or None))
        elif record.birth is Birth.BUFFER:
            yield _kept(record)
        elif record.state is not None:
            yield _remembered(record)
        elif record.birth in (Birth.PARAMETER, Birth.UPDATE):
            yield _spread(record)


def _made(record: NonfiniteRecord, parameters: str) -> Finding:
    what = (record.op or "an operator").lstrip("_")
    given = record.operands.removeprefix("given ").replace("; ", " and ")
    output = f"{what} was given {given}, and its output" if given else f"The output of {what}"
    cure = next((text for op, text in CURES.items() if what.lower().startswith(op)), "")
    since = f" The weights have grown since step {record.began}." if record.began is not None else ""
    return Finding(
        rule="nonfinite-forward",
        severity=Severity.ERROR,
        confidence=0.99 if record.proven else 0.95 if record.op else 0.8,
        title=f"{what} makes the first non-finite value at {_when(record)}, in {record.module or 'the loss'}",
        module=record.module,
        **line_of(record.place),
        step=record.step,
        evidence={
            "operator": what,
            "operands": record.operands or "not seen",
            **_counts(record),
            "cause": record.cause.value,
        },
        why=f"Inputs and parameters were finite. {output} holds the first value that is not.{since}",
        fix=CURES_OF_CAUSES.get(record.cause, "").replace("{parameters}", parameters)
        or cure
        or "keep the argument of this operator in range, or lower the learning rate if weights blew up",
    )


def _when(record: NonfiniteRecord) -> str:
    return f"step {record.step}" + (f", evaluation {record.evaluation}" if record.evaluation is not None else "")


def _counts(record: NonfiniteRecord) -> dict[str, int]:
    return {"NaN": record.num_nan, "Inf": record.num_inf, "values": record.num_elements}


def _kept(record: NonfiniteRecord) -> Finding:
    name = (record.parameter or "").rpartition(".")[2]
    running = name.startswith("running_")
    return Finding(
        rule="nonfinite-forward",
        severity=Severity.ERROR,
        confidence=0.99,
        title=f"{record.module}: {name} is non-finite at {_when(record)}",
        module=record.module,
        parameter=record.parameter,
        **line_of(record.place),
        step=record.step,
        evidence=_counts(record),
        why=f"The buffer {record.parameter} holds the first values that are not finite"
        + (": training mode normalises with the batch and does not read it, evaluation mode does." if running else "."),
        fix=f"{record.module}.reset_running_stats(), and look for the batch or the line that spoiled it"
        if running
        else "look for the line, or the checkpoint, that wrote the buffer",
    )


def _remembered(record: NonfiniteRecord) -> Finding:
    subject = f"{record.state} of {record.parameter} in {record.optimizer}"
    title = f"update: {subject} was non-finite before the step, seen at {_when(record)}"
    why = f"The gradients were finite, and the optimizer adds what it remembers to them: {record.state} was not."
    fix = "look for what wrote the optimizer's state, such as a checkpoint, or build the optimizer anew"
    if record.silences:
        title = f"{subject} is infinite at {_when(record)}: these weights are no longer updated"
        why = "The update is divided by this moment: where it is infinite, the update is zero, in every later step too."
        fix = "clip the gradients, or keep parameters and optimizer in float32; build the optimizer anew to go on"
    return Finding(
        rule="nonfinite-forward",
        severity=Severity.WARNING if record.silences else Severity.ERROR,
        confidence=0.95,
        title=title,
        module=record.module,
        parameter=record.parameter,
        **line_of(record.place),
        step=record.step,
        evidence={**_counts(record), "cause": record.cause.value, "given": record.operands},
        why=why,
        fix=fix,
    )


def _spread(record: NonfiniteRecord) -> Finding:
    return Finding(
        rule="nonfinite-forward",
        severity=Severity.ERROR,
        confidence=0.9,
        title=f"{record.parameter} is non-finite before the forward at {_when(record)}"
        + (f": {record.op.lstrip('_')} in the update made it so" if record.op else ""),
        module=record.module,
        parameter=record.parameter,
        **line_of(record.place),
        step=record.step,
        evidence={**_counts(record), **_known(record)},
        why=_reason(record),
        fix=_cure(record)
        if record.birth is Birth.UPDATE
        else "check what the parameter was made from, or the checkpoint it was loaded from",
    )


def _known(record: NonfiniteRecord) -> dict[str, str]:
    """Return cause and operands as far as they show."""
    known = {"cause": record.cause.value if record.cause is not Cause.UNKNOWN else "", "given": record.operands}
    return {key: text for key, text in known.items() if text}


def _cure(record: NonfiniteRecord) -> str:
    if record.optimizer == BY_HAND and record.cause is Cause.UNKNOWN:
        return "keep what the update divides by from zero, as in p.grad / (p.grad.norm() + 1e-8), and its rate finite"
    return UPDATE_CURES.get(record.cause, "lower the learning rate or clip gradients")


def _reason(record: NonfiniteRecord) -> str:
    if record.birth is Birth.PARAMETER:
        return "The parameter was not finite before any update: it was made or loaded so."
    since = f"; the gradients have grown since step {record.began}" if record.began is not None else ""
    who = "the loop's own" if record.optimizer == BY_HAND else "the optimizer's"
    return f"The gradients of the last step were finite, and {who} update made the parameter so{since}."
