"""This file is the pace of a debugger: which probes are due at the so many-th call."""

from torchmagic.api.debugging.config import DebugConfig

_TIME = ("performance", "data")
_MEMORY = ("memory", "device")
# A value that is not finite may come at any step, and would be spread by the next one.
_ALWAYS = ("anomaly",)


def due_probes(config: DebugConfig, number: int) -> tuple[str, ...]:
    """Return the names of the probes that a configuration asks for and that are due.

    Args:
        config: The configuration with its frequencies.
        number: How many calls there were before; at the first one, 0, everything is due.
    """
    time, memory = checks_time(config, number), checks_memory(config, number)
    gradients = checks_gradients(config, number)
    return tuple(
        name
        for name in config.probes
        if name in _ALWAYS or (time if name in _TIME else memory if name in _MEMORY else gradients)
    )


def checks_gradients(config: DebugConfig, number: int) -> bool:
    """Whether gradients, weights and activations are due."""
    return number % config.gradient_checking_frequency == 0


def checks_memory(config: DebugConfig, number: int) -> bool:
    """Whether memory and devices are due."""
    return number % config.memory_profiling_frequency == 0


def checks_time(config: DebugConfig, number: int) -> bool:
    """Whether time and loading are due."""
    return number % config.performance_profiling_frequency == 0
