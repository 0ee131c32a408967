"""This file is the optimisation modes by name."""

from enum import StrEnum


class OptimizationMode(StrEnum):
    """What is done to make training or inference faster or smaller; a member is equal to its value.

    What each changes, when it applies and what it may cost in exactness is told by ``tuning/recipes``.
    """

    NONE = "none"
    AMP = "amp"
    COMPILATION = "compilation"
    MEMORY_EFFICIENT = "memory_efficient"
    FULL_OPTIMIZATION = "full_optimization"
    CHANNELS_LAST = "channels_last"
    FUSED_OPTIMIZER = "fused_optimizer"
    GRADIENT_ACCUMULATION = "gradient_accumulation"
    INFERENCE = "inference"
    THREADS = "threads"


def mode_of(mode: OptimizationMode | str) -> OptimizationMode:
    """Return a mode by its name, in capitals or not.

    Raises:
        ValueError: If there is none of that name; one line that lists them.
    """
    try:
        return OptimizationMode(str(mode).lower())
    except ValueError:
        known = ", ".join(OptimizationMode)
        message = f"{mode!r} is no optimization mode; take one of {known}"
        raise ValueError(message) from None
