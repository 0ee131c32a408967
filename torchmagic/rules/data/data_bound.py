"""Most of the time goes into waiting for the next batch.

*Symptom*: the device is idle; a step takes as long with a larger model.

*Why it happens*: samples are read, decoded and augmented one after the other in the process that trains, or by too few
workers.

*What to try*: ``num_workers`` of 2 or more, do costly work once and keep the result, or load whole batches at a time.

*Source*: PyTorch performance tuning guide, "Enable asynchronous data loading and augmentation".
"""

from collections.abc import Iterator

from torchmagic.analyses.loader_lines import line_of_loader
from torchmagic.analyses.time_split import PHASES
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.model import LoaderRecord
from torchmagic.records.profile import ProfileRecord
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run

# Share of the loop's time, and seconds, that went into waiting.
MIN_SHARE, MIN_SECONDS = 0.7, 0.3
MIN_STEPS = 3


@rule
def data_bound(run: Run, *, min_share: float = MIN_SHARE, min_seconds: float = MIN_SECONDS) -> Iterator[Finding]:
    """Report the loader that a loop waits for most of its time; of a profile, ``slow-loading`` tells more."""
    if run.of(ProfileRecord):
        return
    waits = {name: sum(run.series("batch_wait", name=name)[1]) for name in run.subjects("batch_wait")}
    seconds = _seconds(run)
    waited, whole = seconds["data"], sum(seconds.values())
    if run.steps < MIN_STEPS or not waits or waited <= min_seconds or waited <= min_share * whole:
        return
    slowest = max(waits, key=lambda name: waits[name])
    record = next((each for each in run.of(LoaderRecord) if each.name == slowest), None)
    workers = record.num_workers if record is not None else 0
    yield Finding(
        rule="data-bound",
        severity=Severity.INFO,
        confidence=0.9,
        title=f"{waited / whole:.0%} of the loop's time is spent waiting for {slowest}",
        **line_of(line_of_loader(record)),
        evidence={
            "waited, s": round(waited, 3),
            "loop, s": round(whole, 3),
            "threshold": f"{min_share:.0%}",
            "workers": workers,
        },
        why="A step takes less time than its batch: "
        + ("the workers" if workers else "this process")
        + " cannot keep up.",
        fix=f"DataLoader(..., num_workers={max(2 * workers, 2)})  # or prepare the samples once, before training",
    )


def _seconds(run: Run) -> dict[str, float]:
    """Return the seconds of each phase of the loop, without what came before it and after it."""
    found = dict.fromkeys(PHASES, 0.0)
    for phase in PHASES:
        for step, value in zip(*run.series("seconds", name=phase), strict=True):
            before = step == 0 and phase == "other"
            if step < run.steps and not before:
                found[phase] += value
    return found
