"""Ranks are given different numbers of batches.

*Symptom*: training hangs at the end of an epoch, or fails with a timeout; some ranks are an epoch ahead of others.

*Why it happens*: each backward waits for the same backward on every rank. A rank whose loader ends earlier never comes,
or its next epoch's first batch is paired with the last one of the others.

*What to try*: ``DistributedSampler``, which pads, or ``drop_last=True`` over parts of equal length; for streams,
``torch.distributed.algorithms.join.Join``.

*Source*: PyTorch tutorial "Distributed training with uneven inputs using the Join context manager".
"""

from collections.abc import Iterator, Mapping

from torchmagic.analyses.loader_lines import line_of_loader
from torchmagic.analyses.ranks_passes import loader_named, trained_passes
from torchmagic.analyses.ranks_words import groups_of, ranks_said
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.rank_beats import HangRecord
from torchmagic.records.ranks import LoaderPassRecord
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.ranked import Ranks
from torchmagic.session.run import Run
from torchmagic.session.status import Status

WELL = (Status.OK, Status.RUNNING)
# Seconds that a rank waits in an exchange before it counts as stuck.
MOST_SECONDS = 10.0


@rule
def uneven_batches(run: Run) -> Iterator[Finding]:
    """Report each loader that gave some ranks fewer batches, where a rank failed or stands still."""
    ranks = run.ranks
    if ranks is None or ranks.num_read < len((0, 1)) or _went_well(ranks):
        return
    for loader, passes in trained_passes(ranks).items():
        for number, records in passes.items():
            counts = _counts(records)
            if len(set(counts.values())) > 1:
                yield _finding(ranks, loader, number, counts)
                break


def _went_well(ranks: Ranks) -> bool:
    """Whether no rank failed or stands still: then somebody took care, such as ``Join``."""
    failed = any(status not in WELL for status in ranks.statuses.values())
    stuck = any(beat.inside and beat.seconds + beat.age > MOST_SECONDS for beat in ranks.beats.values())
    return not failed and not stuck and not any(ranks.of(HangRecord).values())


def _counts(records: Mapping[int, LoaderPassRecord]) -> dict[int, int]:
    """Return how many batches each rank's pass has, where it tells, or has come to its end."""
    found = {rank: record.num_expected for rank, record in records.items() if record.num_expected is not None}
    if len(found) == len(records):
        return found
    ended = {rank: record.num_batches for rank, record in records.items() if record.finished}
    least = min(ended.values(), default=0)
    longer = {rank: record.num_batches for rank, record in records.items() if record.num_batches > least}
    return {**longer, **ended} if ended else {}


def _finding(ranks: Ranks, loader: str, number: int, counts: Mapping[int, int]) -> Finding:
    fewest, most = min(counts.values()), max(counts.values())
    short = [rank for rank, count in counts.items() if count == fewest]
    known = loader_named(ranks, loader)
    return Finding(
        rule="uneven-batches",
        severity=Severity.ERROR,
        confidence=0.9,
        title=f"{ranks_said(short)} {'is' if len(short) == 1 else 'are'} given {fewest:,} batches a pass of {loader}, "
        f"others up to {most:,}",
        **line_of(line_of_loader(known)),
        evidence={
            "fewest batches": fewest,
            "most batches": most,
            "groups of ranks with as many": len(groups_of(counts)),
            "pass": number,
        },
        why="A rank that has no batch left does not come to the exchange in which the others wait for it.",
        fix=f"DataLoader(..., sampler=DistributedSampler(dataset))  # pads, so that all ranks get {most:,}",
    )
