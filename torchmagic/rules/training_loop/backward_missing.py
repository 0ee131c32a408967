"""The optimizer steps although no backward has run since its step before.

*Symptom*: the loss stays where it began; no parameter moves.

*Why it happens*: only ``backward()`` fills ``.grad``. Without it the gradients are None or zero, and ``step()`` leaves
every parameter as it is. A closure that computes the loss but never calls ``backward()`` does the same.

*What to try*: call ``loss.backward()`` between computing the loss and ``step()``; in a closure, before it returns.

*Source*: PyTorch documentation, "Optimizing Model Parameters"; Humbatova et al., "Taxonomy of real faults in deep
learning systems", ICSE 2020 (missing API call).
"""

from collections.abc import Iterator

from torchmagic.analyses.source_calls import loop_assigns
from torchmagic.analyses.texts import text_around
from torchmagic.analyses.uncalled_methods import told_at_uncalled
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.loop import Idle, IdleStepRecord
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run

# One step without gradients is a known way to quieten the warning of schedulers; the catalogue asks for two.
MIN_STEPS = 2
# What a loss that is written out is called.
LOSS_NAMES = ("loss", "cost", "error", "objective", "mse")


@rule
def backward_missing(run: Run, *, min_steps: int = MIN_STEPS) -> Iterator[Finding]:
    """Report each optimizer that stepped, after a forward, without any backward."""
    idle = [record for record in run.of(IdleStepRecord) if record.why is Idle.NO_BACKWARD and _has_loss(run, record)]
    for optimizer in dict.fromkeys(record.optimizer for record in idle):
        records = [record for record in idle if record.optimizer == optimizer]
        most = max(records, key=lambda record: record.count)
        if most.count < min_steps:
            continue
        where = "in the closure, before it returns the loss" if most.closure else f"before {optimizer}.step()"
        finding = Finding(
            rule="backward-missing",
            severity=Severity.ERROR,
            confidence=0.95,
            title=f"{optimizer} steps without gradients: at least {most.count} had no backward before them",
            optimizer=optimizer,
            **line_of(most.place),
            step=records[0].step,
            evidence={"steps without a backward": most.count, "threshold": min_steps, "steps looked at": most.steps},
            why="A loss was computed, but its gradients came to no parameter: each grad is None or zero, so that the "
            "step changes nothing.",
            fix=f"loss.backward()  # {where}",
        )
        yield told_at_uncalled(run, finding, "backward")


def _has_loss(run: Run, record: IdleStepRecord) -> bool:
    """Whether there was something to send backward: a call of a model or loss, or else a loss in the loop's text."""
    if record.computed:
        return True
    return record.place is not None and loop_assigns(text_around(run, record.place), record.place.line, LOSS_NAMES)
