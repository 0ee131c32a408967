"""Most rows of a test set are rows that were trained on.

*Symptom*: the test score is as good as the training score, and better than on anything new.

*Why it happens*: rows were copied before the split (oversampling, augmentation on disk), the split was drawn twice, or
the test set is a part of the training set.

*What to try*: split first, by a permutation drawn once, and check that the two sets of indices have nothing in common.

*Source*: Kapoor and Narayanan, "Leakage and the reproducibility crisis in machine-learning-based science", 2023.
"""

from collections.abc import Iterator

from torchmagic.analyses.loader_lines import line_of_loader
from torchmagic.records.feeding import SharedRowsRecord
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.model import LoaderRecord
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run

# Share of the evaluated rows that were trained on.
MIN_SHARE = 0.5
# Fewer rows can be equal by chance.
MIN_ROWS = 16
# A tensor that holds nearly all training rows is the training set, on which a score is often taken.
WHOLE = 0.9


@rule
def train_test_overlap(run: Run, *, min_share: float = MIN_SHARE, min_rows: int = MIN_ROWS) -> Iterator[Finding]:
    """Report each evaluation of which most rows are training rows."""
    loaders = {record.name: record for record in run.of(LoaderRecord)}
    for record in run.of(SharedRowsRecord):
        # only a part of the training rows is known: as large a part of the equal rows was found
        known = record.num_known / record.num_training if record.num_training > record.num_known else 1.0
        share = min(1.0, record.num_equal / max(record.num_rows, 1) / known)
        if share <= min_share or record.coarse or record.num_equal < min_rows:
            continue
        if not record.loader and record.covered >= WHOLE:
            continue
        loader = loaders.get(record.loader)
        yield Finding(
            rule="train-test-overlap",
            severity=Severity.INFO,
            confidence=0.9 if known == 1.0 else 0.75,
            title=f"{share:.0%} of the rows on which {record.model} is tested were trained on"
            + (f" ({record.loader})" if record.loader else ""),
            module=record.model,
            **line_of(line_of_loader(loader, record.place)),
            evidence={
                "rows evaluated": record.num_rows,
                "equal to a training row": record.num_equal,
                "training rows known": record.num_known,
                "threshold": f"{min_share:.0%}",
            },
            why="They are the same bit by bit, so that the score says how well the model remembers.",
            fix="train_set, test_set = torch.utils.data.random_split(dataset, [0.8, 0.2])  # once, before copying rows",
        )
