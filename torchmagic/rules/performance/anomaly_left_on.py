"""A mode for debugging stayed on through a long training.

*Symptom*: each step takes several times as long as it should, or memory grows with the steps.

*Why it happens*: ``torch.autograd.set_detect_anomaly(True)`` was called once and never taken back, or the whole loop
stands inside ``torch.profiler.profile()``.

*What to try*: ``torch.autograd.set_detect_anomaly(False)``, or ``with`` around the few steps that are to be looked at.

*Source*: PyTorch performance tuning guide, "Disable debugging APIs".
"""

from collections.abc import Iterator

from torchmagic.records.feeding import SlowModeRecord
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.profile import ProfileRecord
from torchmagic.rules.rule import rule
from torchmagic.session.run import Run

# A shorter run is one in which something is looked for.
MIN_STEPS = 200
# Looks at which the mode was on; they are at the first steps and then ever further apart.
MIN_LOOKS = 8
FIX = {
    "detect_anomaly": "torch.autograd.set_detect_anomaly(False)",
    "profiler": "torch.profiler.profile(schedule=torch.profiler.schedule(wait=1, warmup=1, active=3))",
}


@rule
def anomaly_left_on(run: Run, *, min_steps: int = MIN_STEPS, min_looks: int = MIN_LOOKS) -> Iterator[Finding]:
    """Report each mode that was on from the first to the last look of a long run."""
    ours = {"profiler"} if run.of(ProfileRecord) else set()
    for mode in {record.mode: None for record in run.of(SlowModeRecord) if record.mode not in ours}:
        steps = [record.step for record in run.of(SlowModeRecord) if record.mode == mode]
        if run.steps < min_steps or len(steps) < min_looks or steps[0] > 0 or 2 * steps[-1] < run.steps:
            continue
        yield Finding(
            rule="anomaly-left-on",
            severity=Severity.WARNING,
            confidence=0.9,
            title=f"{mode} was on through all of {run.steps} steps",
            step=steps[0],
            evidence={"looks at which it was on": len(steps), "steps": run.steps, "threshold": min_steps},
            why="It notes down every operation of every step, which takes more time than many operations themselves.",
            fix=FIX.get(mode, ""),
        )
