"""Two optimizers step the same parameter on the same gradient.

*Symptom*: part of the model moves twice as far as the rest, with two different learning rates or averages.

*Why it happens*: the parameters of a part were given to an optimizer of their own, and those of the whole model to
another one; both step after the same ``backward()``.

*What to try*: give each parameter to one optimizer, as parameter groups of one or without overlap. Two optimizers that
step after a backward of their own each, one after the other, or one within the other, are left alone.

*Source*: PyTorch documentation of ``torch.optim``, "Per-parameter options".
"""

from collections.abc import Iterator

from torchmagic.records.connection import ReusedGradientsRecord
from torchmagic.records.finding import Finding, Severity
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run

# Times that both stepped on one gradient: a change from one optimizer to the next makes it happen once.
MIN_PAIRS = 3


@rule
def shared_parameter_optimizers(run: Run, *, min_pairs: int = MIN_PAIRS) -> Iterator[Finding]:
    """Report each pair of optimizers that moved the same parameters for the same backward."""
    records = [each for each in run.of(ReusedGradientsRecord) if not each.same]
    for pair in dict.fromkeys(frozenset((record.optimizer, record.earlier)) for record in records):
        mine = [record for record in records if frozenset((record.optimizer, record.earlier)) == pair]
        times = max(record.num_pairs for record in mine)
        if times < min_pairs:
            continue
        last = mine[-1]
        yield Finding(
            rule="shared-parameter-optimizers",
            severity=Severity.WARNING,
            confidence=0.85,
            title=f"{last.earlier} and {last.optimizer} both step {last.num_shared} parameters after one backward",
            optimizer=last.optimizer,
            parameter=last.parameters[0] if last.parameters else None,
            **line_of(last.place),
            step=mine[0].step,
            evidence={
                "parameters that both hold": last.num_shared,
                "times seen": times,
                "threshold": min_pairs,
                "line of the other step": last.earlier_place.line if last.earlier_place is not None else "unknown",
            },
            why="Each of them moves these parameters by its own rule for the same gradient.",
            fix=f"leave out of {last.optimizer} what {last.earlier} holds, or use parameter groups of one optimizer",
        )
