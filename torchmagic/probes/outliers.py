"""This file tells a value that stands far above those before it."""

import math

# How fast the memory of earlier values fades, and how many of them are needed before one can stand out.
MEMORY, NUM_BEFORE = 0.05, 20
# So many deviations above; a spread smaller than this, on the log scale, is taken for this: even the calmest loop
# must rise by a third to stand out.
FAR, LEAST_VARIANCE = 6.0, 0.05 * 0.05
# Looks at once, and steps until one more is granted: a loop of nothing but spikes is not looked at each time.
MOST_LOOKS, BETWEEN_LOOKS = 4, 500


class Outliers:
    """Remembers the usual size of a positive value, and how much it varies, on a log scale."""

    def __init__(self) -> None:
        self._seen = 0
        self._usual, self._variance = 0.0, 0.0
        self._looks = float(MOST_LOOKS)
        self._looked_at = 0

    def is_far(self, value: float) -> bool:
        """Take in a finite value; tell whether it stands far above the earlier ones."""
        if self.is_near(value):
            return False
        away = FAR * math.sqrt(self._variance + LEAST_VARIANCE)  # one spike must not hide the next
        self._seen += 1
        self._usual += MEMORY * away
        self._variance += MEMORY * (away * away - self._variance)
        return True

    def is_near(self, value: float) -> bool:
        """Take in a finite value, unless it stands far above the earlier ones; tell whether it does not."""
        if value <= 0.0:
            return True
        away = math.log(value) - self._usual
        if self._seen >= NUM_BEFORE and away > FAR * math.sqrt(self._variance + LEAST_VARIANCE):
            return False
        if not self._seen:
            self._usual, away = away, 0.0
        self._seen += 1
        self._usual += MEMORY * away
        self._variance += MEMORY * (away * away - self._variance)
        return True

    def may_look(self) -> bool:
        """Whether a dear look is still granted; one that is granted counts, and comes back after many values."""
        regained = (self._seen - self._looked_at) / BETWEEN_LOOKS
        self._looks = min(self._looks + regained, float(MOST_LOOKS))
        self._looked_at = self._seen
        if self._looks < 1.0:
            return False
        self._looks -= 1.0
        return True
