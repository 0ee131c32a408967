"""This file is the cures that were tried on a copy: what they gained, in numbers and in words."""

from typing import NamedTuple

from torchmagic.analyses.profile_costs import duration
from torchmagic.records.speed import VerifiedRecord
from torchmagic.session.run import Run


class Tried(NamedTuple):
    """A cure that was tried.

    Args:
        record: What was measured.
        gain: Share of the time that it saved; below zero where it took longer.
        spread: How far that share is uncertain.
    """

    record: VerifiedRecord
    gain: float
    spread: float

    @property
    def factor(self) -> str:
        """How many times as fast it is, such as ``1.8x as fast``."""
        return f"{self.record.before / self.record.after:.1f}x as fast, as measured"


def verified(run: Run, cure: str, subject: str) -> Tried | None:
    """Return how a cure did on a model or an optimizer; None where it was not tried."""
    for record in run.of(VerifiedRecord):
        if record.cure == cure and record.subject == subject and record.before > 0 and record.after > 0:
            ratio = record.after / record.before
            return Tried(record, 1.0 - ratio, record.spread * ratio * ratio)
    return None


def told(tried: Tried | None) -> dict[str, float | str]:
    """Return what was measured as evidence; nothing where nothing was."""
    if tried is None:
        return {}
    record = tried.record
    return {
        f"{record.what} before": duration(record.before),
        f"{record.what} after": duration(record.after),
        "trials": record.trials,
    }
