"""More than half of what an embedding is given is padding.

*Symptom*: steps are slow for the number of words in them; memory goes with the longest text.

*Why it happens*: every text is filled up to one fixed length, or short and long ones share a batch.

*What to try*: pad each batch to its own longest text in ``collate_fn``, sort texts of like length into batches, or cut
the fixed length.

*Source*: Amazon SageMaker Debugger, rule NLPSequenceRatio (50%).
"""

import statistics
from collections.abc import Iterator

from torchmagic.records.feeding import PaddingRecord
from torchmagic.records.finding import Finding, Severity
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run

MIN_SHARE = 0.5
# One batch can be short.
MIN_LOOKS = 2


@rule
def padding_dominates(run: Run, *, min_share: float = MIN_SHARE, min_looks: int = MIN_LOOKS) -> Iterator[Finding]:
    """Report each embedding that gets more padding than anything else."""
    for module in dict.fromkeys(record.module for record in run.of(PaddingRecord)):
        records = [record for record in run.of(PaddingRecord) if record.module == module]
        share = statistics.median(record.share for record in records)
        if len(records) < min_looks or share <= min_share:
            continue
        yield Finding(
            rule="padding-dominates",
            severity=Severity.INFO,
            confidence=0.85,
            title=f"{share:.0%} of the indices that {module} gets are padding",
            module=module,
            **line_of(records[0].place),
            step=records[0].step,
            evidence={"padding": f"{share:.1%}", "threshold": f"{min_share:.0%}", "batches looked at": len(records)},
            why="All of it is computed, and none of it counts.",
            fix="nn.utils.rnn.pad_sequence(texts, batch_first=True)  # in collate_fn: as long as the batch needs",
        )
