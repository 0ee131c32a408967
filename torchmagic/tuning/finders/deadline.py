"""This file is the time that a search may take, and the error that ends what would take longer."""

import math
import time
from collections.abc import Callable


class TimeIsUpError(Exception):
    """The time of a search is over."""


class Deadline:
    """A moment after which nothing more is begun.

    Args:
        seconds: From now.
        clock: Tells seconds.

    Raises:
        ValueError: If it is no positive number; one line.
    """

    def __init__(self, seconds: float, clock: Callable[[], float] = time.perf_counter) -> None:
        is_number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
        if not is_number or not math.isfinite(seconds) or seconds <= 0:
            raise ValueError(f"time_limit={seconds!r} came; wanted seconds, more than 0, such as time_limit=30")
        self.seconds, self.clock = float(seconds), clock
        self._begin = clock()
        self._end = self._begin + seconds

    def part(self, share: float) -> "Deadline":
        """Return a deadline after a share of what is left; it is told as this one."""
        own = Deadline(self.seconds, self.clock)
        own._end = self.clock() + share * self.left
        return own

    @property
    def left(self) -> float:
        """Seconds that are left, 0 or more."""
        return max(0.0, self._end - self.clock())

    @property
    def passed(self) -> float:
        """Seconds since it was set."""
        return self.clock() - self._begin

    def check(self) -> None:
        """Pass while there is time.

        Raises:
            TimeIsUpError: If there is none left.
        """
        if not self.left:
            raise TimeIsUpError(self.words)

    @property
    def words(self) -> str:
        """What is said of a setting whose turn did not come, or did not end, before."""
        return f"the time limit of {self.seconds:g} s was over before it was timed"
