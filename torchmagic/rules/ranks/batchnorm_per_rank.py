"""A batch norm takes its statistics over the few rows of one rank.

*Symptom*: worse results on many ranks than on one, at the same total batch size; evaluation far below training.

*Why it happens*: the batch is split among ranks, and ``BatchNorm`` sees only its own part. Mean and variance of two or
four rows are noise, and each rank normalises by other ones.

*What to try*: ``nn.SyncBatchNorm.convert_sync_batchnorm(model)`` before wrapping, more rows a rank, or
``nn.GroupNorm``.

*Source*: PyTorch documentation of ``nn.SyncBatchNorm``; Wu and He, "Group normalization", ECCV 2018, figure 1.
"""

from collections.abc import Iterator, Mapping

from torchmagic.analyses.ranks_exchange import wraps
from torchmagic.analyses.ranks_passes import trained_passes
from torchmagic.analyses.ranks_words import ranks_said
from torchmagic.records.data import BatchRecord, Source
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.ranks import WrapRecord
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.ranked import Ranks
from torchmagic.session.run import Run

# Rows up to which statistics are mostly noise: the error in "Group normalization" begins to rise at 8, steeply at 4.
MAX_ROWS = 4


@rule
def batchnorm_per_rank(run: Run, *, max_rows: int = MAX_ROWS) -> Iterator[Finding]:
    """Report each model with batch norms whose ranks get a few rows each."""
    ranks = run.ranks
    if ranks is None or ranks.world_size < len((0, 1)):
        return
    seen = set()
    for record in wraps(ranks):
        if record.num_batch_norms and record.model not in seen:
            seen.add(record.model)
            rows = _rows(ranks, record.model)
            if rows and max(rows.values()) <= max_rows:
                yield _finding(ranks, record, rows, max_rows)


def _rows(ranks: Ranks, model: str) -> dict[int, int]:
    """Return the rows that a model gets on each rank in training, the most that were seen, else those of its loader."""
    found: dict[int, int] = {}
    for rank, records in ranks.of(BatchRecord).items():
        sizes = [each.shape[0] for each in records if _is_fed(each, model) and each.shape]
        if sizes:
            found[rank] = max(sizes)
    if found:
        return found
    passes = [records for each in trained_passes(ranks).values() for records in each.values()]
    return {rank: each.batch_size for records in passes for rank, each in records.items() if each.batch_size}


def _is_fed(record: BatchRecord, model: str) -> bool:
    return record.source is Source.MODEL and record.training and record.name == model


def _finding(ranks: Ranks, record: WrapRecord, rows: Mapping[int, int], max_rows: int) -> Finding:
    most, number = max(rows.values()), record.num_batch_norms
    norms = "a batch norm" if number == 1 else f"{number} batch norms"
    return Finding(
        rule="batchnorm-per-rank",
        severity=Severity.WARNING,
        confidence=0.7,
        title=f"{norms} of {record.model} normalise{'s' if number == 1 else ''} over {most} rows of one rank",
        module=record.model,
        **line_of(record.place),
        evidence={
            "rows a rank": most,
            "rows of all ranks": most * ranks.world_size,
            "threshold": max_rows,
            "seen on": ranks_said(rows),
        },
        why="Each rank normalises by the mean and variance of its own few rows.",
        fix=f"{record.model} = nn.SyncBatchNorm.convert_sync_batchnorm({record.model})  # before it is wrapped",
    )
