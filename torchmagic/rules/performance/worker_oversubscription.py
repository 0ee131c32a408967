"""A loader has more than twice as many workers as there are cores.

*Symptom*: the first batch of each pass takes seconds; more workers made it slower.

*Why it happens*: workers that share a core wait for each other, and each one has to be started and keeps its own copy
of what it touches.

*What to try*: as many workers as cores at most, and ``persistent_workers=True``.

*Source*: PyTorch's own warning, "suggested max number of worker in current system".
"""

from collections.abc import Iterator

from torchmagic.analyses.counting import counted
from torchmagic.analyses.loader_lines import line_of_loader
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.model import LoaderRecord
from torchmagic.records.note import EnvironmentRecord
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run

# Workers that wait for a disk or a network can be more than cores, but not by much.
MIN_RATIO = 2.0


@rule
def worker_oversubscription(run: Run, *, min_ratio: float = MIN_RATIO) -> Iterator[Finding]:
    """Report each loader of more workers than the cores can carry."""
    cores = next((record.num_cores for record in run.of(EnvironmentRecord)), 0)
    for record in run.of(LoaderRecord):
        if not cores or record.num_workers <= min_ratio * cores:
            continue
        yield Finding(
            rule="worker-oversubscription",
            severity=Severity.INFO,
            confidence=0.85,
            title=f"{record.name} has {record.num_workers} workers for {counted(cores, 'core')}",
            **line_of(line_of_loader(record)),
            evidence={"workers": record.num_workers, "cores": cores, "threshold": f"{min_ratio:g} a core"},
            why="Workers that share a core wait for each other, and starting each of them takes time in every pass.",
            fix=f"DataLoader(..., num_workers={cores}, persistent_workers=True)",
        )
