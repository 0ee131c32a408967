"""The last thing that happens to the model's output is dropout: what the loss compares is partly zeros.

*Symptom*: the training loss stays high and noisy, and is far above that of an evaluation.

*Why it happens*: a dropout after the last layer sets scores of classes, or predictions, to zero at random and scales up
the rest. No weights can make up for that.

*What to try*: put it before the last layer, on features, or leave it out.

*Source*: Srivastava et al., "Dropout", JMLR 2014, section 4; Ghosh et al., UMLAUT and NeuraLint have it as a design
fault.
"""

from collections.abc import Iterator

from torchmagic.records.finding import Finding, Severity
from torchmagic.records.structure import DroppedOutputRecord
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run

# Losses, of those that were looked at, that were given such an output.
MIN_LOSSES = 3
# Those that compare embeddings with each other: dropout may be what tells two views of one sample apart.
OF_PAIRS = (
    "cosine_embedding_loss",
    "hinge_embedding_loss",
    "margin_ranking_loss",
    "triplet_margin_loss",
    "triplet_margin_with_distance_loss",
)


@rule
def dropout_before_loss(run: Run, *, min_losses: int = MIN_LOSSES) -> Iterator[Finding]:
    """Report each dropout whose very output a loss is given."""
    for record in run.of(DroppedOutputRecord):
        if record.count >= min_losses and record.loss not in OF_PAIRS:
            yield Finding(
                rule="dropout-before-loss",
                severity=Severity.WARNING,
                confidence=0.9,
                title=f"{record.loss} is given an output of which {record.module} drops {record.probability:.0%}",
                module=record.module,
                **line_of(record.place),
                step=record.step,
                evidence={
                    "losses that were looked at and were given it": record.count,
                    "threshold": min_losses,
                    "probability": record.probability,
                },
                why="A score that is set to zero at random is no answer of the model's; its weights cannot help it.",
                fix="put the dropout before the last layer, or leave it out",
            )
