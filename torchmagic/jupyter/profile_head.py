"""This file is what the panel's head says of a profile that goes on: which steps are profiled, and when it is over."""

from torchmagic.profiling.settings import ProfileSettings


def doing(settings: ProfileSettings, steps: int) -> str:
    """Say what is being done with the next optimizer step.

    Args:
        settings: Of the profile.
        steps: Optimizer steps made so far.
    """
    first = settings.wait + settings.warming
    last = first + settings.active
    if not steps:
        return "profiling"  # a cell that makes no step is profiled whole
    if steps < settings.wait:
        return f"waiting; steps {first + 1:,}–{last:,} are profiled"
    if steps < first:
        return f"warming up; steps {first + 1:,}–{last:,} are profiled"
    if steps < last:
        return f"profiling steps {first + 1:,}–{last:,}"
    return "profiled, running on"
