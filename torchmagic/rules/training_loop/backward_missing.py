"""The optimizer steps although no backward has run since its step before.

*Symptom*: the loss stays where it began; no parameter moves.

*Why it happens*: only ``backward()`` fills ``.grad``. Without it the gradients are None or zero, and ``step()`` leaves
every parameter as it is. A closure that computes the loss but never calls ``backward()`` does the same. Gradients that
an earlier cell left are no better: each step then goes the same way again, whatever the loss has become.

*What to try*: call ``loss.backward()`` between computing the loss and ``step()``; in a closure, before it returns.

*Source*: PyTorch documentation, "Optimizing Model Parameters"; Humbatova et al., "Taxonomy of real faults in deep
learning systems", ICSE 2020 (missing API call).
"""

from collections.abc import Iterator

from torchmagic.analyses.source_calls import loop_assigns
from torchmagic.analyses.texts import text_around
from torchmagic.analyses.uncalled_methods import told_at_uncalled
from torchmagic.records.connection import ReusedGradientsRecord
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.loop import Idle, IdleStepRecord
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run

# One step without gradients is a known way to quieten the warning of schedulers; the catalogue asks for two.
MIN_STEPS = 2
# Steps on gradients that one before them had used: once or twice may be an experiment at the prompt.
MIN_AGAIN = 3
# What a loss that is written out is called.
LOSS_NAMES = ("loss", "cost", "error", "objective", "mse")


@rule
def backward_missing(run: Run, *, min_steps: int = MIN_STEPS, min_again: int = MIN_AGAIN) -> Iterator[Finding]:
    """Report each optimizer that stepped, after a forward, without any backward."""
    idle = [record for record in run.of(IdleStepRecord) if record.why is Idle.NO_BACKWARD and _has_loss(run, record)]
    told = set()
    for optimizer in dict.fromkeys(record.optimizer for record in idle):
        records = [record for record in idle if record.optimizer == optimizer]
        if any(record.applied for record in records):
            continue  # the loop follows its gradients by itself, as schedules of an idle optimizer have it
        if max(record.count for record in records) >= min_steps:
            told.add(optimizer)
            yield told_at_uncalled(run, _without_gradients(records, min_steps), "backward")
    old = [each for each in run.of(ReusedGradientsRecord) if each.same and each.made_before]
    for optimizer in dict.fromkeys(each.optimizer for each in old if each.optimizer not in told):
        again = [each for each in old if each.optimizer == optimizer]
        if again[-1].num_pairs >= min_again:
            yield told_at_uncalled(run, _on_old_ones(again, min_again), "backward")


def _without_gradients(records: list[IdleStepRecord], min_steps: int) -> Finding:
    most = max(records, key=lambda record: record.count)
    where = "in the closure, before it returns the loss" if most.closure else f"before {most.optimizer}.step()"
    cause = "A loss was computed, but its gradients came to no parameter"
    if most.differentiated:
        cause = "torch.autograd.grad returns gradients, and puts them in no parameter's grad"
    return Finding(
        rule="backward-missing",
        severity=Severity.ERROR,
        confidence=0.95,
        title=f"{most.optimizer} steps without gradients: at least {most.count} had no backward before them",
        optimizer=most.optimizer,
        **line_of(most.place),
        step=records[0].step,
        evidence={"steps without a backward": most.count, "threshold": min_steps, "steps looked at": most.steps},
        why=f"{cause}: each grad is None or zero, so that the step changes nothing.",
        fix=_fix(most, where),
    )


def _fix(most: IdleStepRecord, where: str) -> str:
    if most.differentiated:  # its gradients are there, and in no parameter's grad
        loop = "for parameter, gradient in zip(parameters, gradients): parameter.grad = gradient"
        return f"{loop}  # after torch.autograd.grad, {where}; or loss.backward() in its place"
    return f"loss.backward()  # {where}"


def _on_old_ones(again: list[ReusedGradientsRecord], min_again: int) -> Finding:
    last = again[-1]
    return Finding(
        rule="backward-missing",
        severity=Severity.ERROR,
        confidence=0.9,
        title=f"{last.optimizer} steps again and again on gradients left by earlier code: no backward made new ones",
        optimizer=last.optimizer,
        **line_of(last.place),
        step=again[0].step,
        evidence={"steps on gradients already used": last.num_pairs, "threshold": min_again, "backward passes": 0},
        why="The gradients were there before the run began, and nothing has changed them since: each step goes the "
        "same way again, whatever the loss has become.",
        fix=f"{last.optimizer}.zero_grad(); loss.backward()  # before {last.optimizer}.step(), on a loss of this step",
    )


def _has_loss(run: Run, record: IdleStepRecord) -> bool:
    """Whether there was something to send backward: a call of a model or loss, or else a loss in the loop's text."""
    if record.computed:
        return True
    return record.place is not None and loop_assigns(text_around(run, record.place), record.place.line, LOSS_NAMES)
