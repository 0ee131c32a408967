"""This file is the breakdown: from which step on a run's numbers mean nothing."""

from collections.abc import Sequence

from torchmagic.records.nonfinite import NonfiniteRecord
from torchmagic.session.run import Run


def sound_part(run: Run, steps: Sequence[int], values: Sequence[float]) -> tuple[list[int], list[float]]:
    """Return the part of a series before the first non-finite value was born; the whole series when none was."""
    end = breakdown_step(run)
    if end is None:
        return list(steps), list(values)
    kept = [(step, value) for step, value in zip(steps, values, strict=True) if step < end]
    return [step for step, _ in kept], [value for _, value in kept]


def breakdown_step(run: Run) -> int | None:
    """Return the step at which the first non-finite value was born, or None."""
    return min((record.step for record in run.of(NonfiniteRecord)), default=None)
