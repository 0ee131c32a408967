"""The gradients are reset after the backward and before the step that should use them.

*Symptom*: the loss does not move although everything seems to run; weights stay as they were, or only decay.

*Why it happens*: ``zero_grad()`` empties ``.grad``. Between ``backward()`` and ``step()`` it throws away what was just
computed, and the optimizer steps on nothing. Where gradients of several batches, or of several losses, are to add up, a
reset before each of them leaves only those of the last.

*What to try*: move the reset before ``backward()``, at the start of the iteration, or right after ``step()``. Where
batches or losses add up, reset right after the step only.

*Source*: PyTorch documentation, "Optimizing Model Parameters"; Humbatova et al., "Taxonomy of real faults in deep
learning systems", ICSE 2020 (wrong order of API calls).
"""

from collections.abc import Iterator

from torchmagic.analyses.gradient_lines import hooks_gradients, reads_gradients
from torchmagic.analyses.texts import says
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.loop import DiscardedGradientsRecord, Idle, IdleStepRecord
from torchmagic.records.place import Place
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run

# Once may be the end of a warm-up or a batch that was given up; the catalogue asks for two.
MIN_STEPS = 2
# Of batches that are wiped before a step there must be more, and as many before nearly each step.
MIN_WIPED_STEPS, REGULAR = 4, 0.75


@rule
def zero_grad_after_backward(
    run: Run, *, min_steps: int = MIN_STEPS, min_wiped: int = MIN_WIPED_STEPS
) -> Iterator[Finding]:
    """Report each optimizer that stepped on gradients which had been reset after the backward."""
    yield from _discarded(run, min_wiped)
    reset = [record for record in run.of(IdleStepRecord) if record.why is Idle.RESET]
    for optimizer in dict.fromkeys(record.optimizer for record in reset):
        records = [record for record in reset if record.optimizer == optimizer]
        most = max(records, key=lambda record: record.count)
        if most.count < min_steps:
            continue
        place = most.reset or most.place
        yield Finding(
            rule="zero-grad-after-backward",
            severity=Severity.ERROR,
            confidence=0.96,
            title=f"{optimizer} steps on gradients that were reset after the backward, at least {most.count} times",
            optimizer=optimizer,
            **line_of(place),
            step=records[0].step,
            evidence={"steps without gradients": most.count, "threshold": min_steps, "steps looked at": most.steps},
            why="backward() filled .grad, and the reset emptied it again before step() could use it.",
            fix=f"{optimizer}.zero_grad(); loss.backward(); {optimizer}.step()  # in this order",
        )


def _discarded(run: Run, min_steps: int) -> Iterator[Finding]:
    """Report each optimizer that steps on the last of several batches or losses, whose gradients were to add up."""
    for record in run.of(DiscardedGradientsRecord):
        regular = record.count >= REGULAR * record.steps
        if record.count < min_steps or not regular or record.inspected or says(run, reads_gradients):
            continue
        if record.kept is None:
            yield _one_batch(record, min_steps)
        elif not says(run, hooks_gradients):
            yield _one_loss(record, record.kept, min_steps)


def _one_batch(record: DiscardedGradientsRecord, min_steps: int) -> Finding:
    """Report an optimizer that steps on the last of several batches."""
    name, batches = record.optimizer, record.wiped + 1
    return Finding(
        rule="zero-grad-after-backward",
        severity=Severity.ERROR,
        confidence=0.9,
        title=f"{name} steps on 1 of {batches} batches: the reset before each wipes the gradients of those before",
        evidence={
            "backward passes before a step": batches,
            "wiped by the reset": record.wiped,
            **_counts(record, min_steps),
        },
        why="Gradients add up from one backward to the next, but a reset stands between the two each time.",
        fix=f"{name}.step(); {name}.zero_grad()  # the reset only here, and loss / {batches}",
        optimizer=name,
        **line_of(record.reset),
        step=record.step,
    )


def _one_loss(record: DiscardedGradientsRecord, kept: Place, min_steps: int) -> Finding:
    """Report an optimizer that steps on the gradients of one backward, after those of another were wiped."""
    name, lost = record.optimizer, record.backward.source if record.backward is not None else "another backward"
    reset = record.reset.source if record.reset is not None else "the reset between the two"
    return Finding(
        rule="zero-grad-after-backward",
        severity=Severity.ERROR,
        confidence=0.88,
        title=f"{name} never uses the gradients of {lost}: they are reset before {kept.source}",
        evidence={
            "gradients that are wiped": lost,
            "gradients that a step uses": kept.source,
            **_counts(record, min_steps),
        },
        why="Gradients of several losses add up from one backward to the next, but a reset stands between the two: the "
        "first loss trains nothing.",
        fix=f"remove {reset} between the two: one reset for each step, before the first backward",
        optimizer=name,
        **line_of(record.reset),
        step=record.step,
    )


def _counts(record: DiscardedGradientsRecord, min_steps: int) -> dict[str, int]:
    return {"steps of this kind": record.count, "threshold": min_steps, "steps looked at": record.steps}
