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

from torchmagic.analyses.cures import cure_of
from torchmagic.analyses.model_names import parameters_in
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.loop import BY_HAND
from torchmagic.records.nonfinite import Birth, Cause, NonfiniteRecord
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run

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
        fix=cure_of(record, parameters)
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
