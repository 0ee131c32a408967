"""This file is the steps of a run that is told of: its own, or those of the ranks that it only started."""

from torchmagic.records.ranks import LaunchRecord
from torchmagic.session.run import Run


def told_steps(run: Run) -> int:
    """Return how many optimizer steps a run made, or, where it made none itself, the most that a rank of it made."""
    if run.steps or not run.of(LaunchRecord) or run.ranks is None:
        return run.steps
    return max((each.steps for each in run.ranks.runs.values()), default=0)
