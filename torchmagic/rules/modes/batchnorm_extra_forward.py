"""Batch norm's running statistics are moved by forwards from which nothing is learned.

*Symptom*: the statistics follow data that are not trained on, or each batch twice; evaluation is worse than training.

*Why it happens*: in training mode every forward moves the running mean and variance, also one without gradients, such
as a second call for an accuracy, or for labels of unlabelled data.

*What to try*: take metrics from the output that the loss was computed of, or put the model into evaluation mode for the
extra forward. Methods that need their extra forwards in training mode may ignore this.

*Source*: PyTorch documentation of ``BatchNorm2d`` (running statistics); Ioffe and Szegedy, "Batch normalization", 2015.
"""

from collections.abc import Iterator

from torchmagic.analyses.counting import few
from torchmagic.analyses.evaluation_rhythm import adversaries_train, is_part_of_steps
from torchmagic.records.evaluation import EvaluationRecord
from torchmagic.records.finding import Finding, Severity
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run

# Steps with such a forward.
MIN_STEPS = 3


@rule
def batchnorm_extra_forward(run: Run, *, min_steps: int = MIN_STEPS) -> Iterator[Finding]:
    """Report each line whose forwards, in the midst of the steps, move statistics and are not learned from."""
    if adversaries_train(run):
        return
    records = [record for record in run.of(EvaluationRecord) if record.training and record.norms]
    records = [record for record in records if record.also_trained]
    for place in dict.fromkeys(record.place for record in records):
        here = [record for record in records if record.place == place]
        if len(here) < min_steps or not is_part_of_steps(run, here):
            continue
        first = here[0]
        yield Finding(
            rule="batchnorm-extra-forward",
            severity=Severity.INFO,
            confidence=0.7,
            title=f"{first.norms[0]} moves its statistics in forwards that nothing is learned from",
            module=first.norms[0],
            **line_of(first.place),
            step=first.step,
            evidence={"steps seen": len(here), "threshold": min_steps, "modules": few(first.norms)},
            why="In training mode each forward moves the running mean and variance, with gradients or without.",
            fix=f"{first.model}.eval()  # around the extra forward, or use the output that was trained on",
        )
