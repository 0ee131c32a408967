"""The cell was run again, and trained on with the weights and the optimizer's state of its earlier run.

*Symptom*: the loss starts where the last run ended; a changed learning rate or seed seems to do nothing.

*Why it happens*: model and optimizer were built in another cell. Running the training cell once more goes on with both,
momentum and Adam's averages included: it is no new experiment.

*What to try*: run the cells that build model and optimizer first, or build them in the training cell. To go on is fine
where it is meant.

*Source*: Pimentel et al., "A large-scale study about quality and reproducibility of Jupyter notebooks", MSR 2019.
"""

from collections.abc import Iterator

from torchmagic.records.finding import Finding, Severity
from torchmagic.records.notebook import OptimizerStateRecord, RerunRecord
from torchmagic.rules.rule import rule
from torchmagic.session.run import Run


@rule
def continued_training(run: Run) -> Iterator[Finding]:
    """Report each optimizer that brought state along into a run of the same source."""
    before = next(iter(run.of(RerunRecord)), None)
    if before is None:
        return
    for record in run.of(OptimizerStateRecord):
        steps = f"{record.steps} steps" if record.steps else "earlier steps"
        yield Finding(
            rule="continued-training",
            severity=Severity.INFO,
            confidence=0.9,
            title=f"the cell ran before, and {record.optimizer} goes on with its state of {steps}",
            optimizer=record.optimizer,
            step=0,
            evidence={
                "earlier runs of this cell": before.times,
                "their steps": before.steps,
                "state": ", ".join(record.keys),
            },
            why="Model and optimizer live outside the cell, so that running it again continues the training.",
            fix=f"build the model and {record.optimizer} anew before this cell, where a fresh start is meant",
        )
