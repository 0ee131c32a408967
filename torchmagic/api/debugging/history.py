"""This file is the history of a debugger: its newest operations whole, and of all of them the sums."""

import math
import threading
from collections import Counter, deque
from dataclasses import dataclass, field
from statistics import median

from torchmagic.api.debugging.info import DebugInfo

# So many operations are kept whole; what is older counts in the sums.
MOST_KEPT = 1_000
# So many operations are counted by name; what comes beyond counts as this.
MOST_NAMES = 1_000
OTHERS = "others"
# An operation is slow that takes so many times the median of its name, after so many of them, and so many seconds.
SLOW_TIMES, LEAST, SLOW_SECONDS = 3.0, 5, 0.1
_MOST_RECENT = 50


@dataclass(slots=True)
class Sums:
    """Of the finite values of one quantity: how many, their sum, and their ends."""

    number: int = 0
    total: float = 0.0
    least: float = math.inf
    most: float = -math.inf

    def add(self, value: float | None) -> None:
        """Count a value, unless there is none or it is not finite."""
        if value is not None and math.isfinite(value):
            self.number += 1
            self.total += value
            self.least, self.most = min(self.least, value), max(self.most, value)

    @property
    def mean(self) -> float | None:
        """Mean; None where there is nothing."""
        return self.total / self.number if self.number else None

    @property
    def ends(self) -> tuple[float | None, float | None]:
        """Least and greatest; None where there is nothing."""
        return (self.least, self.most) if self.number else (None, None)


@dataclass(slots=True)
class Totals:
    """What is known of all operations, however many."""

    seconds: Sums = field(default_factory=Sums)
    memory: Sums = field(default_factory=Sums)
    device: Sums = field(default_factory=Sums)
    gradient_norm: Sums = field(default_factory=Sums)
    operations: Counter[str] = field(default_factory=Counter)
    number: int = 0
    anomalies: int = 0
    memory_leaks: int = 0
    performance_issues: int = 0
    gradient_anomalies: int = 0

    def add(self, info: DebugInfo, name: str) -> None:
        """Count an operation under a name."""
        self.number += 1
        self.operations[name] += 1
        self.seconds.add(info.execution_time)
        self.memory.add(info.memory_usage)
        self.device.add(info.gpu_memory)
        self.gradient_norm.add(info.gradient_norm)
        self.anomalies += info.anomaly_detected
        self.memory_leaks += info.memory_leak_detected
        self.performance_issues += info.performance_issue_detected
        self.gradient_anomalies += bool(info.gradient_anomalies)


class History:
    """The operations of one debugger; any thread may read and clear it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.clear()

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._entries: deque[DebugInfo] = deque(maxlen=MOST_KEPT)
            self.totals = Totals()
            self._times: dict[str, deque[float]] = {}
            self._norms: deque[float] = deque(maxlen=_MOST_RECENT)

    @property
    def entries(self) -> list[DebugInfo]:
        """The newest operations, oldest first."""
        with self._lock:
            return list(self._entries)

    def add(self, info: DebugInfo) -> None:
        """Append an operation that has ended."""
        with self._lock:
            if self._entries:
                self._entries[-1].details = {}  # those of one operation may be a megabyte; the file has them all
            self._entries.append(info)
            name = self._counted(info.operation)
            self.totals.add(info, name)
            self._times.setdefault(name, deque(maxlen=_MOST_RECENT)).append(info.execution_time)
            if info.gradient_norm is not None and math.isfinite(info.gradient_norm):
                self._norms.append(info.gradient_norm)

    def is_slow(self, operation: str, seconds: float) -> bool:
        """Whether an operation took far longer than those of its name before it."""
        with self._lock:
            before = list(self._times.get(self._counted(operation), ()))
        return seconds > SLOW_SECONDS and len(before) >= LEAST and seconds > SLOW_TIMES * median(before)

    @property
    def usual_norm(self) -> float | None:
        """Median of the newest gradient norms; None before there are enough."""
        with self._lock:
            norms = list(self._norms)
        return median(norms) if len(norms) >= LEAST else None

    def last(self, operation: str) -> DebugInfo | None:
        """Return the newest operation of a name, or None."""
        return next((info for info in reversed(self.entries) if info.operation == operation), None)

    def _counted(self, name: str) -> str:
        known = self.totals.operations
        return name if name in known or len(known) < MOST_NAMES else OTHERS
