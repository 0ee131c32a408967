"""A step reads many values from tensors one by one.

*Symptom*: the device is idle between short bursts; a step takes long although the model is small.

*Why it happens*: each ``.item()``, ``float(t)`` or ``if t:`` waits until everything that was queued before it is done,
so that nothing can be queued ahead.

*What to try*: add up on the device and read once an epoch: ``total += loss.detach()``; compare whole batches instead of
samples.

*Source*: PyTorch performance tuning guide, "Avoid unnecessary CPU-GPU synchronization".
"""

import statistics
from collections.abc import Iterator

from torchmagic.records.feeding import HostReadsRecord
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.profile import ProfileRecord
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run

# Reads a step; a loss and a few metrics are fewer.
MIN_READS = 8
# One step can hold an evaluation.
MIN_LOOKS = 2


@rule
def sync_in_loop(run: Run, *, min_reads: float = MIN_READS, min_looks: int = MIN_LOOKS) -> Iterator[Finding]:
    """Report the line that reads most; of a profile, ``host-reads`` tells what that costs."""
    if run.of(ProfileRecord):
        return
    steps, counts = run.series("host_reads")
    if len(counts) < min_looks or statistics.median(counts) < min_reads:
        return
    usual = statistics.median(counts)
    lines = run.of(HostReadsRecord)
    most = max(lines, key=lambda record: record.num_reads, default=None)
    methods = ", ".join(f".{name}()" for name in most.methods) if most is not None else ""
    yield Finding(
        rule="sync-in-loop",
        severity=Severity.INFO,
        confidence=0.85,
        title=f"each step reads {usual:.0f} values from tensors one by one",
        **line_of(most.place if most is not None else None),
        step=steps[0],
        evidence={
            "reads a step": usual,
            "threshold": min_reads,
            "steps looked at": len(counts),
            "reads at this line": most.num_reads if most is not None else 0,
            "by": methods,
        },
        why="Each read waits for all the work queued before it; on an accelerator that is most of the time.",
        fix="total += value.detach()  # and total.item() once, after the loop",
    )
