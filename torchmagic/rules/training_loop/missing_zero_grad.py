"""The optimizer steps on gradients that still hold those of its earlier steps.

*Symptom*: the loss falls at first and then swings or grows; gradient norms climb from step to step.

*Why it happens*: ``backward()`` adds to ``.grad``. When nothing resets it between two steps, each step follows the sum
of all gradients so far instead of the gradient of its own batch.

*What to try*: call ``optimizer.zero_grad()`` once a step, before ``backward()`` or right after ``step()``. To add up
several batches on purpose, reset after the step that uses them.

*Source*: PyTorch documentation, "What does optimizer.zero_grad() do?"; Humbatova et al., "Taxonomy of real faults in
deep learning systems", ICSE 2020 (missing API call).
"""

from collections.abc import Iterator
from itertools import pairwise

from torchmagic.analyses.model_names import parameters_in
from torchmagic.analyses.step_names import as_in_code
from torchmagic.analyses.uncalled_methods import told_at_uncalled
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.loop import BY_HAND
from torchmagic.records.protocol import UnclearedGradientsRecord
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run

# Two steps in a row can be an unlucky start of a loop; the catalogue asks for three pairs.
MIN_STREAK = 3


@rule
def missing_zero_grad(run: Run, *, min_streak: int = MIN_STREAK) -> Iterator[Finding]:
    """Report each optimizer whose gradients were not reset over several steps in a row."""
    for optimizer in dict.fromkeys(record.optimizer for record in run.of(UnclearedGradientsRecord)):
        records = [record for record in run.of(UnclearedGradientsRecord) if record.optimizer == optimizer]
        longest = max(records, key=lambda record: record.streak)
        if longest.streak < min_streak:
            continue
        streaks = [record.streak for record in records]  # of several optimizers, where they share a name
        now_and_then = any(after == 1 < before for before, after in pairwise(streaks))  # once an epoch, say
        goes_on = longest is records[-1] and longest.step + 1 < run.steps  # only so many are recorded
        count = f"at least {longest.streak}" if goes_on else longest.streak
        so = f"{count} times in a row on gradients that are not reset"
        finding = Finding(
            rule="missing-zero-grad",
            severity=Severity.ERROR,
            confidence=0.97,
            title=f"{optimizer} steps {so if now_and_then else 'on gradients that are never reset'}",
            optimizer=optimizer if optimizer != BY_HAND else None,
            **line_of(longest.backward),
            step=records[0].step,
            evidence={
                "steps in a row without a reset": count,
                "threshold": min_streak,
                "parameters": f"{longest.num_parameters} of {longest.total}",
            },
            why="backward() adds to .grad, and nothing cleared it between the steps: each step follows the sum of all "
            "gradients so far.",
            fix=f"{_reset(run, optimizer)}  # once a step, before backward()",
        )
        yield told_at_uncalled(run, finding, "zero_grad")


def _reset(run: Run, optimizer: str) -> str:
    """Return code that resets the gradients that an optimizer, or a loop by itself, steps on."""
    if optimizer != BY_HAND:
        return f"{as_in_code(run, optimizer)}.zero_grad()"
    return f"for each in {parameters_in(run)}: each.grad = None"
