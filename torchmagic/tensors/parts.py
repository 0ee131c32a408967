"""This file is what a walk over a tensor's values finds: a part for each piece, and what is not finite."""

from dataclasses import dataclass, field
from typing import NamedTuple


class Part(NamedTuple):
    """What one piece's finite values are like; mean and deviation (divisor n) are in the values' own unit.

    Of whole numbers that a float64 cannot tell apart ``above`` says by how much the mean is above the least, ``low``.
    """

    num: int
    low: float
    high: float
    mean: float
    std: float
    num_zero: int = 0
    num_negative: int = 0
    num_subnormal: int = 0
    above: float | None = None


@dataclass(slots=True)
class Found:
    """What a walk found.

    Args:
        parts: One for each piece that has a finite value.
        dirty: First element of each piece that has another one, in the order of the walk.
    """

    parts: list[Part] = field(default_factory=list)
    dirty: list[int] = field(default_factory=list)
    num_nan: int = 0
    num_posinf: int = 0
    num_neginf: int = 0

    def add(self, other: "Found") -> None:
        """Take in what another walk found."""
        self.parts += other.parts
        self.dirty += other.dirty
        self.num_nan += other.num_nan
        self.num_posinf += other.num_posinf
        self.num_neginf += other.num_neginf
