"""This file is what a benchmark of a cell is asked for: which modes, how many steps, how long."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

from torchmagic.tuning.modes import OptimizationMode, mode_of

# What applies to a training that goes on as it is; the compilers, which take longest, come last.
USUAL = ("amp", "channels_last", "fused_optimizer", "threads", "memory_efficient", "compilation", "full_optimization")


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchRequest:
    """What a benchmark is asked for.

    Args:
        modes: Names of modes, in the order in which they are measured.
        steps: Steps that are timed of each mode and, in turns with it, of the plain loop; at least 24 are.
        time_limit: Seconds for all modes together. A compiler that has begun is not stopped.

    Raises:
        TypeError: If a value is of another type; one line.
        ValueError: If a mode does not exist, or a number is not above 0; one line.
    """

    modes: tuple[str, ...] = USUAL
    steps: int = 100
    time_limit: float = 120.0

    def __post_init__(self) -> None:
        if not isinstance(self.modes, str | Iterable):
            raise TypeError(f"modes={self.modes!r} came; wanted names of modes")
        names = self.modes.replace(",", " ").split() if isinstance(self.modes, str) else self.modes
        object.__setattr__(self, "modes", tuple(dict.fromkeys(mode_of(name).value for name in names)))
        if not self.modes:
            raise ValueError(f"modes is empty; wanted some of {', '.join(OptimizationMode)}")
        if not isinstance(self.steps, int) or self.steps < 1:
            raise ValueError(f"steps={self.steps!r} came; wanted a whole number from 1 on")
        if not isinstance(self.time_limit, int | float) or not self.time_limit > 0:
            raise ValueError(f"time_limit={self.time_limit!r} came; wanted seconds above 0")

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Return the request of these values; others than its fields are left out."""
        return cls(**{each.name: values[each.name] for each in fields(cls) if each.name in values})
