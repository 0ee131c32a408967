"""This file is how runs stand at a moment: what is measured and streamed, read without touching the training."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from torchmagic.server.reading import Reader
from torchmagic.session.history import Entry
from torchmagic.session.run import Run
from torchmagic.session.status import Status

# Of these metrics the newest values are told; others are asked for as series.
TOLD = ("loss", "eval_loss", "lr", "grad_norm", "grad_norm_before_clip", "grad_scale", "rss_bytes", "cuda_bytes")
# A series of more columns is one of parameters or modules.
MOST_COLUMNS = 8
# Runs that ended long ago are not measured again and again.
NUM_RUNS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Where one run stands.

    Args:
        id: Its id.
        number: Its number in the history; 0 until it is known.
        name: Its label, or empty.
        status: How it stands or ended.
        steps: Optimizer steps.
        seconds: Wall time.
        cost: Seconds of it that torchmagic took.
        findings: How many findings it has, by severity.
        values: Returns the newest values, by metric and subject.
    """

    id: str
    number: int
    name: str
    status: Status
    steps: int
    seconds: float
    cost: float
    findings: Mapping[str, int]
    values: Callable[[], Mapping[tuple[str, str], float]]

    @property
    def goes_on(self) -> bool:
        """Whether it is running."""
        return self.status is Status.RUNNING


def standings(reader: Reader) -> list[Standing]:
    """Return how the newest runs stand, and all that go on; oldest first.

    Raises:
        StoreError: If a store is served and cannot be read.
    """
    runs = reader.here()
    if runs is None:
        entries = reader.entries()
        old = entries[:-NUM_RUNS]
        return [_of_entry(each) for each in (*(e for e in old if e.status is Status.RUNNING), *entries[-NUM_RUNS:])]
    old_runs = runs[:-NUM_RUNS]
    return [_of_run(run) for run in (*(r for r in old_runs if r.status is Status.RUNNING), *runs[-NUM_RUNS:])]


def _of_run(run: Run) -> Standing:
    severities = [finding.severity.value for finding in run.findings]
    return Standing(
        id=run.id,
        number=run.number,
        name=run.name,
        status=run.status,
        steps=run.steps,
        seconds=run.clock.seconds,
        cost=run.clock.cost,
        findings={name: severities.count(name) for name in ("error", "warning", "info")},
        values=partial(_newest, run),
    )


def _newest(run: Run) -> dict[tuple[str, str], float]:
    found: dict[tuple[str, str], tuple[int, float]] = {}
    for frame in tuple(run.frames):
        row = frame.last() if frame.metric in TOLD and len(frame.subjects) <= MOST_COLUMNS else None
        if row is None:
            continue
        for subject, value in zip(frame.subjects, row[1], strict=True):
            known = found.get((frame.metric, subject))
            if known is None or row[0] >= known[0]:
                found[frame.metric, subject] = row[0], float(value)
    return {key: value for key, (_, value) in found.items()}


def _of_entry(entry: Entry) -> Standing:
    return Standing(
        id=entry.id,
        number=entry.number,
        name=entry.name,
        status=entry.status,
        steps=entry.steps,
        seconds=entry.seconds,
        cost=entry.cost,
        findings={"error": entry.errors, "warning": entry.warnings, "info": entry.infos},
        values=lambda: {("loss", ""): entry.loss[-1]} if entry.loss else {},
    )
