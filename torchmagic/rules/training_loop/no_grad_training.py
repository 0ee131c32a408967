"""The model was trained on a forward for which gradients were switched off.

*Symptom*: "element 0 of tensors does not require grad and does not have a grad_fn"; or no error and a loss that never
falls, where the loss was made to require a gradient by hand.

*Why it happens*: the forward stands in ``torch.no_grad()`` or ``inference_mode()``, ``forward`` is decorated with it,
or ``set_grad_enabled(False)`` of an evaluation was never taken back.

*What to try*: take the training forward out of the block, or switch gradients on again after the evaluation.

*Source*: PyTorch documentation, "Locally disabling gradient computation"; Stack Overflow question 61808965.
"""

from collections.abc import Iterator

from torchmagic.records.crash import GradlessForwardRecord
from torchmagic.records.finding import Finding, Severity
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run


@rule
def no_grad_training(run: Run) -> Iterator[Finding]:
    """Report a backward on what a model computed with gradients switched off."""
    record = next(iter(run.of(GradlessForwardRecord)), None)
    if record is None:
        return
    how = record.how or "gradients switched off"
    model = record.model or "the model"
    # A block shows which forward is in it; a decorator, or a call that holds from then on, stands elsewhere.
    block = record.switched is not None and record.switched.source.startswith(("with ", "async with "))
    place = record.forward if block and not _waits(record) else record.switched
    yield Finding(
        rule="no-grad-training",
        severity=Severity.ERROR,
        confidence=0.97 if record.crashed else 0.9,
        title=f"{model} ran under {how}, and backward was called on the result",
        module=record.model or None,
        **line_of(place or record.switched or record.forward or record.backward),
        step=record.step,
        evidence=_evidence(record),
        why="Without gradients no operation is recorded: the loss has no way back to the parameters.",
        fix=_fix(record, model),
    )


def _waits(record: GradlessForwardRecord) -> bool:
    """Whether the block is one in which a generator waits while the loop over what it gives runs."""
    return record.how.endswith("a yield")


def _evidence(record: GradlessForwardRecord) -> dict[str, float | str]:
    places = (("switched off", record.switched), ("forward", record.forward), ("backward", record.backward))
    found: dict[str, float | str] = {
        name: f"line {place.line}: {place.source}" for name, place in places if place is not None
    }
    return {**found, "backward raised": "yes" if record.crashed else "no: the loss was made to require a gradient"}


def _fix(record: GradlessForwardRecord, model: str) -> str:
    if record.how.startswith("@"):
        return f"take {record.how} off; put it, or a with block, around the evaluation alone"
    if _waits(record):
        return "take the yield out of the block: a generator waits inside of it while the loop's body runs"
    if "set_grad_enabled" in record.how:
        return "torch.set_grad_enabled(True)  # after the evaluation; or a with block around the evaluation alone"
    return f"call {model} outside of the block: only evaluations belong in {record.how or 'torch.no_grad()'}"
