"""The workers of a loader are started anew for each pass.

*Symptom*: the first batch of each epoch takes long, the others do not.

*Why it happens*: without ``persistent_workers=True`` a loader ends its worker processes with each pass, and starts new
ones for the next: they import torch, copy the dataset, and load the first batches while the training waits.

*What to try*: ``persistent_workers=True``.

*Source*: PyTorch documentation of ``DataLoader``, ``persistent_workers``.
"""

from collections.abc import Iterator

from torchmagic.analyses.profile_costs import LEAST_GAIN, duration, profile_of, shown
from torchmagic.analyses.savings import saves_of_run
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.speed import WorkerStartRecord
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run

# Of the time of the run. The first pass has to start its workers in any case.
MIN_PASSES = 3


@rule
def restarted_workers(run: Run, *, min_share: float = LEAST_GAIN, min_passes: int = MIN_PASSES) -> Iterator[Finding]:
    """Report each loader whose later passes began slowly because its workers were started."""
    if profile_of(run) is None:
        return
    for record in run.of(WorkerStartRecord):
        later = record.seconds - record.first
        if record.persistent or record.passes < min_passes or later < min_share * record.run_seconds:
            continue
        yield Finding(
            rule="restarted-workers",
            severity=Severity.INFO,
            confidence=0.95,
            title=f"starting {_workers(record)} of {record.loader} again in {record.passes - 1} passes took "
            f"{duration(later)}; saves up to all of that",
            **line_of(shown(record.place)),
            evidence={
                "seconds": float(f"{later:.3g}"),
                "share of the run": f"{later / max(later, record.run_seconds):.1%}",
                "passes": record.passes,
                "threshold": f"{min_share:.0%} of the run",
                **saves_of_run(later, record.run_seconds),
            },
            why="Each pass starts new worker processes, and waits until they have loaded a first batch.",
            fix=f"DataLoader(..., num_workers={record.workers}, persistent_workers=True)",
        )


def _workers(record: WorkerStartRecord) -> str:
    return f"{record.workers} workers" if record.workers > 1 else "the worker"
