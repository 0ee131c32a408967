"""A value that is not finite was born on some ranks only, and the exchange gave it to all.

*Symptom*: every rank reports NaN in its gradients or weights at the same step, and on most of them nothing explains it.

*Why it happens*: the sum over ranks is NaN if one part is. A single bad sample on one rank is enough.

*What to try*: look at that rank's batch: what is told below is its origin; skip such a step on all ranks or on none.

*Source*: PyTorch documentation of ``torch.distributed.all_reduce``; IEEE 754.
"""

from collections.abc import Iterator

from torchmagic.analyses.ranks_births import FirstBirth, first_birth
from torchmagic.analyses.ranks_words import ranks_said
from torchmagic.records.data import BadSampleRecord
from torchmagic.records.finding import Finding, Severity
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.ranked import Ranks
from torchmagic.session.run import Run

MOST_SAMPLES = 3


@rule
def nonfinite_on_one_rank(run: Run) -> Iterator[Finding]:
    """Report the ranks on which a loss was not finite while it was on others."""
    ranks = run.ranks
    if ranks is None or ranks.num_read < len((0, 1)):
        return
    found = first_birth(ranks)
    if found is not None:
        yield _finding(ranks, found)


def _finding(ranks: Ranks, found: FirstBirth) -> Finding:
    record, who = found.record, ranks_said(found.ranks)
    samples = _bad_samples(ranks, found)
    spread = f", and reached {ranks_said(found.reached)} through the exchange" if found.reached else ""
    born = f"{record.birth}" + (f", {record.op}" if record.op else "") if record is not None else "the loss"
    evidence: dict[str, float | str] = {"born in": born, "finite at that step on": ranks_said(found.finite)}
    if samples:
        evidence["bad samples"] = ", ".join(samples[:MOST_SAMPLES])
    return Finding(
        rule="nonfinite-on-one-rank",
        severity=Severity.ERROR,
        confidence=0.95,
        title=f"a value that is not finite was born on {who} at step {found.step:,}{spread}",
        module=record.module if record is not None else None,
        **line_of(record.place if record is not None else None),
        step=found.step,
        evidence=evidence,
        why="The other ranks were finite before they exchanged gradients with it."
        if found.reached
        else "The other ranks were finite at that step.",
        fix=f"look at the batch of {who} at step {found.step:,}"
        + (f": {samples[0]}" if samples else "; torchmagic.load(folder).ranks.runs tells its findings"),
    )


def _bad_samples(ranks: Ranks, found: FirstBirth) -> list[str]:
    records = [(rank, record) for rank in found.ranks for record in ranks.runs[rank].of(BadSampleRecord)]
    return [
        f"{record.loader}.dataset[{record.index}]" if record.index is not None else f"row {record.row} on rank {rank}"
        for rank, record in records
        if record.step == found.step
    ]
