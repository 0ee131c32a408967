"""This file is the time split: where the seconds of a run went."""

from torchmagic.session.run import Run

PHASES = ("data", "forward", "backward", "optimizer", "other")


def time_split(run: Run) -> dict[str, float]:
    """Return seconds by phase over the whole run, with torchmagic's own under ``torchmagic``.

    The phases are those of ``PHASES``: waiting for data, forward, backward, optimizer, and the user's other code, that
    before the first step and after the last one included. All parts together are the run's wall time.
    """
    split = {phase: sum(run.series("seconds", name=phase)[1]) for phase in PHASES}
    if any(frame.metric == "seconds" and frame.dropped() is not None for frame in run.frames):
        kept = sum(split.values()) or 1.0  # a long run keeps a part of its steps, which stands for all
        split = {phase: seconds * (run.clock.seconds - run.clock.cost) / kept for phase, seconds in split.items()}
    split["other"] += max(0.0, run.clock.seconds - run.clock.cost - sum(split.values()))
    split["torchmagic"] = run.clock.cost
    return split
