"""This file is what one optimisation did and won, in plain numbers."""

import dataclasses
from typing import Any

from torchmagic.tuning.modes import OptimizationMode


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class OptimizationMetrics:
    """What one use of a mode did, and what it won where that was measured; None where it was not.

    Args:
        mode: The mode that was asked for.
        execution_time: Seconds: of a training, its total time; of ``optimize_model``, those that it took to prepare.
        speedup_factor: Time of a plain step by that of an optimised one; above 1 is faster.
        speedup_low: Lower end of the 99% confidence interval of the factor.
        speedup_high: Upper end of it.
        memory_savings: Share 0..1 of the plain step's peak memory that is saved; below 0 where it takes more.
        memory_usage: Peak memory of an optimised step, in MiB above what was held before it.
        gpu_memory: Most memory allocated on the CUDA device, in MiB.
        amp_enabled: Whether the forward runs in lower precision.
        compilation_enabled: Whether the forward is compiled.
        checkpointing_enabled: Whether activations are computed again instead of kept.
        gradient_accumulation_steps: Batches per optimizer step.
        agreement: Judgement of outputs, gradients and losses against the plain loop: ``"same"``,
            ``"same within bf16 rounding"``, ``"same within fp16 rounding"`` or ``"differs"``.
        notes: What fell back or did not apply, and why; one line each.
    """

    mode: OptimizationMode
    execution_time: float
    speedup_factor: float | None = None
    speedup_low: float | None = None
    speedup_high: float | None = None
    memory_savings: float | None = None
    memory_usage: float | None = None
    gpu_memory: float | None = None
    amp_enabled: bool = False
    compilation_enabled: bool = False
    checkpointing_enabled: bool = False
    gradient_accumulation_steps: int = 1
    agreement: str | None = None
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return all fields by name, the mode as text."""
        return {**dataclasses.asdict(self), "mode": self.mode.value, "notes": list(self.notes)}
