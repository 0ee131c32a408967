"""This file is when a debugger speaks of a leak of the process's memory, and in which words."""

from torchmagic.models.leaks import MemoryTrend

# What a debugger and the session keep of operations and runs grows by a few MB before it levels off.
LEAST_MB = 16.0


def is_leak(trend: MemoryTrend) -> bool:
    """Whether memory, in MB, grows steadily, and by more than a debugger itself may take."""
    return trend.is_leak and trend.growth >= LEAST_MB


def told(trend: MemoryTrend) -> str:
    """Say in one sentence how memory grows."""
    growth = f"{trend.slope:.3g} MB from look to look, {trend.growth:.1f} MB over the last {trend.num_samples}"
    return f"memory of the process grows by {growth}: {trend.reason}"
