"""This file is the profile of a run with all that belongs to it, and its times by phase."""

from dataclasses import dataclass
from typing import TypeVar

from torchmagic.records.costs import AllocationsRecord, CostsRecord
from torchmagic.records.profile import PhasesRecord, ProfileRecord, SourcesRecord
from torchmagic.session.run import Run

PHASES = ("data", "transfer", "forward", "backward", "optimizer", "other", "idle")

R = TypeVar("R")


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """What was profiled.

    Args:
        profile: The window.
        costs: What everything in it cost.
        phases: How its steps split; None where that is not known.
        allocations: Its memory; None where that was not profiled.
        sources: Texts of its cells and files.
    """

    profile: ProfileRecord
    costs: CostsRecord
    phases: PhasesRecord | None
    allocations: AllocationsRecord | None
    sources: SourcesRecord

    @property
    def has_steps(self) -> bool:
        """Whether it was counted in optimizer steps."""
        return self.profile.steps > 0

    @property
    def seconds(self) -> float:
        """Seconds of a step, or of all where there are no steps."""
        return self.per_step(self.profile.seconds)

    def per_step(self, amount: float) -> float:
        """Return what of an amount of the whole window falls to a step; all of it where there are no steps."""
        return amount / max(1, self.profile.steps)

    def share(self, seconds: float) -> float:
        """Return which share of the window's wall time some seconds of it are."""
        return seconds / self.profile.seconds if self.profile.seconds > 0 else 0.0


def profile_window(run: Run) -> Window | None:
    """Return the profile of a run, the last one where there are several; None where there is none."""
    profile = _last(run, ProfileRecord)
    if profile is None:
        return None
    return Window(
        profile=profile,
        costs=_last(run, CostsRecord) or CostsRecord(),
        phases=_last(run, PhasesRecord),
        allocations=_last(run, AllocationsRecord),
        sources=_last(run, SourcesRecord) or SourcesRecord(),
    )


def phase_seconds(phases: PhasesRecord) -> dict[str, tuple[float, ...]]:
    """Return the seconds of each step by phase, in the order of ``PHASES``."""
    return {phase: getattr(phases, phase) for phase in PHASES}


def step_seconds(phases: PhasesRecord) -> list[float]:
    """Return the seconds of each step."""
    return [sum(each) for each in zip(*phase_seconds(phases).values(), strict=False)]


def _last(run: Run, kind: type[R]) -> R | None:
    return next(iter(reversed(run.of(kind))), None)
