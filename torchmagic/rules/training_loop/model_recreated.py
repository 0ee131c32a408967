"""The model starts from fresh weights again and again, and what it has learnt is thrown away.

*Symptom*: each epoch begins with the same high loss; more epochs do not help.

*Why it happens*: the line that builds the model, initialises it or loads its first weights stands inside the loop that
trains it.

*What to try*: move that line before the loop.

*Source*: PyTorch documentation, "Optimizing Model Parameters"; Islam et al., "A comprehensive study on deep learning
bug characteristics", ESEC/FSE 2019 (structural inefficiency).
"""

from collections.abc import Iterator

from torchmagic.analyses.built_lines import line_that_builds
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.loop import RestartRecord
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run

# The catalogue asks for three; with more than one pass over the data each, they are a sweep.
MIN_LIVES = 3
MOST_PASSES = 1
_VERBS = {"built": "is built anew", "initialised": "gets new random weights", "loaded": "is reset to the same weights"}


@rule
def model_recreated(run: Run, *, min_lives: int = MIN_LIVES, most_passes: int = MOST_PASSES) -> Iterator[Finding]:
    """Report each line that began several trainings of a model, alike in all but their first weights."""
    for record in run.of(RestartRecord):
        kept = record.how == "built" and record.alive >= min_lives
        meant = record.reseeded or record.overlapping or kept or not record.same
        short = 0 < record.most_passes <= most_passes
        if record.lives < min_lives or not short or meant or not record.places:
            continue
        yield Finding(
            rule="model-recreated",
            severity=Severity.ERROR,
            confidence=0.9,
            title=f"{record.model} {_VERBS[record.how]} {record.lives} times, after a pass over the data or less each",
            module=record.model,
            **line_of(record.builder or line_that_builds(run.source, record.places)),
            step=0,
            evidence={
                "trainings from fresh weights": record.lives,
                "threshold": min_lives,
                "passes over the data of each, at most": record.most_passes,
                "steps of the shortest": record.least_steps,
            },
            why="The data, the optimizer's settings and the model are the same each time: nothing is left of what "
            "the earlier ones have learnt.",
            fix="move this line before the loop",
        )
