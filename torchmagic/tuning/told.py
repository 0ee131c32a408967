"""This file is what a comparison found as a plain dictionary, under the names that people read."""

import math
from typing import Any

from torchmagic.tuning.comparison import Failure, Result


def told(row: Result | Failure) -> dict[str, Any]:
    """Return the entry of a mode; seconds, MiB and shares."""
    if isinstance(row, Failure):
        return {"mode": row.mode, "error": row.reason, "total_time": math.inf}
    return {
        "mode": row.mode,
        "total_time": row.total_time,
        "num_steps": row.num_steps,
        "step_time": row.step.median,
        "step_time_low": row.step.low,
        "step_time_high": row.step.high,
        "reference_step_time": row.reference.median,
        "speedup_factor": row.speedup.factor,
        "speedup_low": row.speedup.low,
        "speedup_high": row.speedup.high,
        "speedup_verdict": row.speedup.verdict,
        "first_step_time": row.first_step,
        "compile_time": row.compile_time,
        "memory": row.memory,
        "reference_memory": row.reference_memory,
        "memory_savings": row.memory_savings,
        "agreement": row.agreement.verdict,
        "output_difference": row.agreement.outputs.largest,
        "gradient_difference": row.agreement.gradients.largest,
        "loss_difference": row.agreement.losses.largest,
        "losses": list(row.losses),
        "reference_losses": list(row.reference_losses),
        "notes": list(row.notes),
    }
