"""This file is the savings: what a cure wins back at the most, as far as that follows from what was measured."""

from torchmagic.analyses.profile_costs import Profile, duration
from torchmagic.analyses.verified import Tried

# From this share of a cost on, it is all of it.
ALL = 0.95


def saved(profile: Profile, seconds: float | None, *, cost: float) -> str:
    """Return the end of a title that has told what something costs; empty where nobody knows what is saved.

    Args:
        profile: The profile.
        seconds: Seconds of its window that are won back at the most; None where that was not measured.
        cost: Seconds that the title told.
    """
    if seconds is None:
        return ""
    return "; saves up to all of that" if ALL * cost <= seconds <= cost else f"; saves up to {profile.told(seconds)}"


def saves(profile: Profile, seconds: float | None) -> dict[str, float | str]:
    """Return the same as evidence: seconds of the window, and their share of it."""
    return {} if seconds is None else _evidence(seconds, profile.share(seconds))


def saved_of_run(seconds: float, run_seconds: float) -> str:
    """Return the end of a title where what is won back was measured over the whole run.

    Args:
        seconds: What is won back at the most.
        run_seconds: What the run took.
    """
    return f"; saves up to {duration(seconds)} ({_share(seconds, run_seconds):.0%} of the run)"


def saves_of_run(seconds: float, run_seconds: float) -> dict[str, float | str]:
    """Return the same as evidence."""
    return _evidence(seconds, _share(seconds, run_seconds))


def gained_by_model(profile: Profile, tried: Tried | None, model: str) -> float | None:
    """Return the seconds of the window that a cure of a model wins back, as ``gained`` does."""
    root = next((each for each in profile.costs.modules if each.model == model and not each.path), None)
    if root is None:
        return None
    # On an accelerator the host's own time tells little.
    cost = root.forward + root.backward if profile.window.device == "cpu" else profile.window.seconds
    return gained(profile, tried, cost, times=root.calls)


def gained(profile: Profile, tried: Tried | None, cost: float, *, times: int) -> float | None:
    """Return the seconds of the window that a cure wins back by what it did on a copy; None where it was not tried.

    A copy runs without the profiler, which makes operators look slower than they are: the lesser of both counts.

    Args:
        profile: The profile.
        tried: How the cure did.
        cost: Seconds in the window of what it makes faster.
        times: Times that this ran in it.
    """
    if tried is None:
        return None
    measured = (tried.record.before - tried.record.after) * times
    return max(0.0, min(tried.gain * min(cost, profile.window.seconds), measured))


def _share(seconds: float, run_seconds: float) -> float:
    return seconds / max(seconds, run_seconds, 1e-9)


def _evidence(seconds: float, share: float) -> dict[str, float | str]:
    return {"saves": float(f"{seconds:.3g}"), "saves, as a share": f"{share:.1%}"}
