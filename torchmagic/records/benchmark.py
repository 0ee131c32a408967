"""This file is what a benchmark found: what each mode is worth against the plain loop, in plain numbers."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ModeResult:
    """What one mode is worth.

    Args:
        mode: Its name.
        step: Seconds of a step, median.
        step_low: Lower quartile.
        step_high: Upper quartile.
        num_timed: Steps that were timed.
        speedup: Time of a plain step by that of this mode; above 1 is faster.
        speedup_low: Lower end of its interval.
        speedup_high: Upper end; infinite where too few steps were timed.
        verdict: ``faster``, ``slower`` or ``no difference``.
        memory: Peak of a step in MiB above what was held before it; None where that was not measured.
        reference_memory: That of the plain loop.
        first_step: Seconds of the first step, in which it compiles.
        agreement: ``same``, ``same within bf16 rounding``, ``same within fp16 rounding`` or ``differs``.
        output_difference: Largest difference of the first step's outputs.
        gradient_difference: Largest difference of the first step's gradients.
        loss_difference: Largest difference of the losses of all steps.
        losses: One a step.
        notes: What else is to be known, one line each.
        code: What to paste to have it; lines.
    """

    mode: str
    step: float
    step_low: float
    step_high: float
    num_timed: int
    speedup: float
    speedup_low: float
    speedup_high: float
    verdict: str
    memory: float | None
    reference_memory: float | None
    first_step: float
    agreement: str
    output_difference: float
    gradient_difference: float
    loss_difference: float
    losses: Sequence[float]
    notes: Sequence[str] = ()
    code: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModeFailure:
    """A mode that could not be measured.

    Args:
        mode: Its name.
        reason: Why, in one line.
    """

    mode: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkRecord:
    """A benchmark of one training step.

    Args:
        place: What a step is, such as ``one pass of the loop at line 3``.
        before: Where the code to paste belongs, such as ``before the loop at line 3``.
        reference_step: Seconds of a plain step: median, lower and upper quartile; None where none was measured.
        reference_memory: Peak of a plain step in MiB; None where that was not measured.
        reference_losses: Losses of the plain loop, one a step.
        modes: One a mode, in the order that they were measured.
        recommended: The mode that is faster beyond noise and gives the same; empty where there is none.
        seconds: What measuring took.
        is_complete: Whether all modes had their turn.
    """

    place: str
    before: str
    reference_step: tuple[float, float, float] | None
    reference_memory: float | None
    reference_losses: Sequence[float]
    modes: Sequence[ModeResult | ModeFailure]
    recommended: str = ""
    seconds: float = 0.0
    is_complete: bool = True
