"""This file is the book of a debugger that is told step by step: its last entries, and counts of all."""

import threading
from collections import Counter, deque
from collections.abc import Iterable
from typing import Any

# So many entries are kept whole; what is older counts all the same.
MOST_KEPT = 1_000


class Ledger:
    """Entries and counts; any thread may read while another one writes.

    Args:
        most: Entries that are kept whole.
    """

    def __init__(self, most: int = MOST_KEPT) -> None:
        if not isinstance(most, int) or most < 1:
            raise ValueError(f"a history keeps 1 entry or more, {most!r} came")
        self._lock = threading.Lock()
        self._entries: deque[dict[str, Any]] = deque(maxlen=most)
        self._kinds: Counter[str] = Counter()
        self._number = self._anomalous = 0

    @property
    def entries(self) -> list[dict[str, Any]]:
        """The newest entries, oldest first."""
        with self._lock:
            return list(self._entries)

    def add(self, entry: dict[str, Any], kinds: Iterable[str]) -> None:
        """Write a step down.

        Args:
            entry: What is known of it: plain values.
            kinds: The kinds of its anomalies, each counted once a step.
        """
        found = set(kinds)
        with self._lock:
            self._entries.append(entry)
            self._number += 1
            self._anomalous += bool(found)
            self._kinds.update(found)

    def summary(self) -> dict[str, int]:
        """Return the number of steps, of those with an anomaly, and of the entries that are kept."""
        with self._lock:
            return {
                "total_steps": self._number,
                "total_anomalies": self._anomalous,
                "debug_history_length": len(self._entries),
            }

    def count(self, kind: str) -> int:
        """Return the number of steps with an anomaly of a kind."""
        with self._lock:
            return self._kinds[kind]

    def rate(self, number: int) -> float:
        """Return a number of steps as a share of all steps; 0 where there are none."""
        with self._lock:
            return number / self._number if self._number else 0.0

    def clear(self) -> None:
        """Forget entries and counts."""
        with self._lock:
            self._entries.clear()
            self._kinds.clear()
            self._number = self._anomalous = 0
