"""An optimizer steps more than once on the same gradients.

*Symptom*: training is jumpy, as if the learning rate were twice as large; momentum and Adam's averages count the same
batch several times.

*Why it happens*: ``step()`` stands in the loop twice, in the loop and in a function that it calls, or in a loop of its
own.

*What to try*: leave one ``step()`` for each ``backward()``; for larger steps raise the learning rate.

*Source*: PyTorch documentation of ``torch.optim``, "Taking an optimization step".
"""

from collections.abc import Iterator

from torchmagic.records.connection import ReusedGradientsRecord
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.model import OptimizerRecord
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run

# Times that it must have happened: once or twice may be an experiment at the prompt.
MIN_PAIRS = 3
# Optimizers that search along a line with the same gradient.
SEARCHING = ("LBFGS",)


@rule
def double_step(run: Run, *, min_pairs: int = MIN_PAIRS) -> Iterator[Finding]:
    """Report each optimizer that stepped again and again without a backward in between."""
    searching = {record.name for record in run.of(OptimizerRecord) if record.class_name in SEARCHING}
    again = [each for each in run.of(ReusedGradientsRecord) if each.same and not each.made_before]
    records = [each for each in again if each.optimizer not in searching]
    for optimizer in dict.fromkeys(record.optimizer for record in records):
        mine = [record for record in records if record.optimizer == optimizer]
        times = max(record.num_pairs for record in mine)
        if times < min_pairs:
            continue
        last = mine[-1]
        yield Finding(
            rule="double-step",
            severity=Severity.WARNING,
            confidence=0.9,
            title=f"{optimizer} steps again on gradients that it has used already",
            optimizer=optimizer,
            parameter=last.parameters[0] if last.parameters else None,
            **line_of(last.place),
            step=mine[0].step,
            evidence={
                "times seen": times,
                "threshold": min_pairs,
                "line of the first step": last.earlier_place.line if last.earlier_place is not None else "unknown",
            },
            why="Between the two steps there was no backward and nobody changed the gradients: the parameters moved "
            "twice for one batch.",
            fix=f"{optimizer}.step()  # once for each backward()",
        )
