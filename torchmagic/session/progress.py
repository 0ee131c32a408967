"""This file is the progress: where a run that goes on stands, and how fast it goes."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """Where a run stands at the end of a step; what is not known for certain is left out.

    Args:
        batch: Batches of the present pass so far; 0 where no loader is known to feed the training.
        batches: Batches that a whole pass has; None where the loader does not tell.
        epoch: Which pass of this loader it is, the first being 1; 0 where no loader is known.
        seconds_per_step: How long a step took lately; None before that is known.
        seconds_left: Seconds until this pass ends, if it goes on so; None where that cannot be told.
        shares: Lately, the share of the time that went to each phase: ``data``, ``forward``, ``backward``,
            ``optimizer``, ``other`` and ``torchmagic``; together 1, and empty where phases are not timed.
    """

    batch: int = 0
    batches: int | None = None
    epoch: int = 0
    seconds_per_step: float | None = None
    seconds_left: float | None = None
    shares: Mapping[str, float] = field(default_factory=dict)
