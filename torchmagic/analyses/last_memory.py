"""This file is the last memory: what a run's process held, and what was free, when it was last seen."""

from dataclasses import dataclass

from torchmagic.session.run import Run

# With less than this share of what it could have left free, a process that died was probably killed for it: Linux
# begins to kill where it can reclaim nothing more, and what one step asks for is on top of what was seen.
LITTLE_LEFT = 0.05
# The rise over this share of the looks is what may have come once more.
LAST_STRETCH = 0.25


@dataclass(frozen=True, slots=True, kw_only=True)
class LastMemory:
    """Bytes as last seen.

    Args:
        used: Resident memory of the process.
        grown: How much of that came in this run.
        rise: How far it rose over the last quarter of the run.
        free: Memory that the process could still have had; None where that was not recorded.
    """

    used: float
    grown: float
    rise: float
    free: float | None

    @property
    def ran_out(self) -> bool | None:
        """Whether memory had probably run out; None where that cannot be told."""
        if self.free is None:
            return None
        return self.free <= LITTLE_LEFT * (self.used + self.free) or 0 < self.free < self.rise


def last_memory(run: Run) -> LastMemory | None:
    """Return the memory as last seen; None where it was not measured."""
    used = run.series("rss_bytes")[1]
    if not used:
        return None
    free = run.series("free_bytes")[1]
    before = used[int(len(used) * (1 - LAST_STRETCH))] if len(used) > 1 else used[-1]
    return LastMemory(
        used=used[-1], grown=used[-1] - used[0], rise=max(0.0, used[-1] - before), free=free[-1] if free else None
    )
