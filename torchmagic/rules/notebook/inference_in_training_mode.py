"""A cell that only predicts ran dropout or batch norm in training mode.

*Symptom*: predictions differ from call to call, or get worse the more the model is used.

*Why it happens*: a training cell left the model in training mode. Dropout then drops units of the prediction, and
batch norm uses the statistics of the batch at hand and moves its own towards them, gradients or no gradients.

*What to try*: call ``model.eval()`` before predicting.

*Source*: PyTorch documentation of ``Module.eval`` and of ``BatchNorm1d``.
"""

from collections.abc import Iterator

from torchmagic.analyses.counting import few
from torchmagic.records.evaluation import EvaluationRecord
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.loss import BackwardRecord
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run


@rule
def inference_in_training_mode(run: Run) -> Iterator[Finding]:
    """Report forwards without gradients of a model that an earlier cell left in training mode."""
    if run.steps or run.of(BackwardRecord) or ".train(" in run.source:
        return
    for model in dict.fromkeys(record.model for record in run.of(EvaluationRecord)):
        records = [record for record in run.of(EvaluationRecord) if record.model == model]
        awake = [record for record in records if record.training and record.awake and not record.grad_enabled]
        if not awake or len(awake) < len(records):
            continue  # some passes were in evaluation mode: the cell knows of modes
        first = awake[0]
        yield Finding(
            rule="inference-in-training-mode",
            severity=Severity.WARNING,
            confidence=0.8,
            title=f"{model} predicts in training mode: {first.awake[0]} is active",
            module=first.awake[0],
            **line_of(first.place),
            evidence={"batches": sum(record.num_batches for record in awake), "active": few(first.awake)},
            why="An earlier cell left the model in training mode; without gradients nothing here is training.",
            fix=f"{model}.eval()  # before predicting",
        )
