"""An average of a model's weights is evaluated with the statistics that batch norm begins with.

*Symptom*: the averaged model, or the slow copy of a model, scores like one that never trained, while the model itself
is fine.

*Why it happens*: the running mean and variance of batch norm are buffers, and no parameters. An average over
``parameters()`` leaves them as they were when the copy was made: 0 and 1.

*What to try*: copy the ``buffers()`` as well at each update, as ``torch.optim.swa_utils.AveragedModel`` does; or let
``torch.optim.swa_utils.update_bn(loader, averaged)`` count them before it is evaluated.

*Source*: PyTorch documentation of ``torch.optim.swa_utils.update_bn``; Izmailov et al., "Averaging weights leads to
wider optima and better generalization", 2018.
"""

from collections.abc import Iterator

from torchmagic.records.evaluation import FirstStatisticsRecord
from torchmagic.records.finding import Finding, Severity
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run


@rule
def first_batchnorm_statistics(run: Run) -> Iterator[Finding]:
    """Report each model that was evaluated with weights that had moved and statistics that had not."""
    for record in run.of(FirstStatisticsRecord):
        others = f" and {record.count - 1} more" if record.count > 1 else ""
        yield Finding(
            rule="first-batchnorm-statistics",
            severity=Severity.WARNING,
            confidence=0.9,
            title=f"{record.model} is evaluated with the mean 0 and variance 1 that {record.module}{others} began with",
            module=record.module,
            **line_of(record.place),
            step=record.step,
            evidence={"batch norms": record.count, "batches they have seen": 0, "evaluated at step": record.step},
            why="Its weights follow those of a model that trains; the running statistics are buffers, which an average "
            "of parameters leaves out.",
            fix=f"for own, new in zip({record.model}.buffers(), model.buffers()): own.copy_(new)  # at each update",
        )
