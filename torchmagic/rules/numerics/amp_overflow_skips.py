"""A GradScaler leaves out a large part of the steps, because gradients overflow.

*Symptom*: the loss falls more slowly than it should, or not at all, although nothing is raised; the scale keeps
shrinking.

*Why it happens*: at each step whose gradients hold an infinity or NaN the scaler does nothing but halve the scale. Now
and then that is its search for the largest scale that fits. Where it goes on, the values overflow whatever the scale
is, or the scale is pushed up again at once.

*What to try*: look for the operation that overflows, use ``torch.bfloat16``, which needs no scaler, or keep the default
``init_scale`` and ``growth_interval``.

*Source*: Micikevicius et al., "Mixed precision training", ICLR 2018; PyTorch documentation, ``torch.amp.GradScaler``.
"""

from collections.abc import Iterator

from torchmagic.records.finding import Finding, Severity
from torchmagic.records.precision import AutocastRecord, GradScalerRecord, ScalerUseRecord, SkippedStepRecord
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run

# A scaler that grows every 2,000 steps leaves out one in 2,000; nearly a third is no search any more.
MAX_SHARE = 0.3
MIN_STEPS = 10
# So many steps left out in a row at the end of a run are no search for the scale either.
MIN_AT_THE_END = 8


@rule
def amp_overflow_skips(
    run: Run, *, max_share: float = MAX_SHARE, min_steps: int = MIN_STEPS, min_at_the_end: int = MIN_AT_THE_END
) -> Iterator[Finding]:
    """Report a scaler that left out many steps, other than in its first search for a scale."""
    use = next(iter(run.of(ScalerUseRecord)), None)
    if use is None or use.num_steps < min_steps or not use.num_skipped:
        return
    share, at_the_end = use.num_skipped / use.num_steps, _at_the_end(run)
    if at_the_end < min_at_the_end and (share <= max_share or _is_calibration(run, use)):
        return
    records = run.of(SkippedStepRecord)
    _, scales = run.series("grad_scale")
    yield Finding(
        rule="amp-overflow-skips",
        severity=Severity.WARNING,
        confidence=0.9,
        title=f"the scaler left out {use.num_skipped} of {use.num_steps} steps ({share:.0%}): gradients overflowed",
        optimizer=records[0].optimizer if records else None,
        **line_of(records[0].place if records else None),
        step=records[0].step if records else None,
        evidence={
            "steps left out": use.num_skipped,
            "steps asked for": use.num_steps,
            "threshold": f"{max_share:.0%}",
            "in a row at the end": at_the_end,
            "scale at the end": scales[-1] if scales else "unknown",
        },
        why="A step that is left out changes no weight; the scale does not settle at a value that fits.",
        fix=_fix(run, max_share),
    )


def _fix(run: Run, max_share: float) -> str:
    """Return a scale that grows seldom where it grows at nearly each step, else a dtype of another range, if it is."""
    growing = [record for record in run.of(GradScalerRecord) if 0 < record.growth_interval * max_share <= 1]
    if growing:
        return (
            f"torch.amp.GradScaler(growth_interval=2000)  # {growing[0].growth_interval} lets the scale grow too often"
        )
    dtypes = {record.dtype for record in run.of(AutocastRecord) if record.enabled}
    if "bfloat16" in dtypes:
        return "# find what overflows: bfloat16 has the range of float32 and needs no scaler"
    return "torch.autocast(device, dtype=torch.bfloat16)  # needs no scaler; or find what overflows"


def _is_calibration(run: Run, use: ScalerUseRecord) -> bool:
    """Whether all steps left out came before the first that was taken, and at least as many were taken after them."""
    steps, _ = run.series("skipped_steps")
    return max(steps, default=0) == min(steps, default=0) == 0 and use.num_steps - use.num_skipped >= use.num_skipped


def _at_the_end(run: Run) -> int:
    """Return how many steps in a row were left out at the end; the number of steps taken stands still meanwhile."""
    steps, _ = run.series("skipped_steps")
    return steps.count(run.steps)
