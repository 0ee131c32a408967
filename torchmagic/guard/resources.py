"""This file is ``monitor_resources``: how much of processor and memory is in use, and what is above its threshold."""

import logging
import threading
import time
from dataclasses import asdict, dataclass
from typing import Any

import psutil
import torch

MB = 2**20
# A share of the processor is of a stretch of time: the first look waits for one, and shorter ones tell nothing (s).
SHORTEST = 0.1

_log = logging.getLogger("torchmagic.guard")


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceReport:
    """What is in use.

    Args:
        cpu_percent: Share of all cores that was busy since the look before, 0 to 100, by all processes.
        memory_percent: Share of the machine's memory in use, 0 to 100, by all processes.
        memory_available: MB (2**20 bytes) that could still be given.
        process_memory: MB that this process has in memory.
        gpu_memory: MB that tensors of this process take up on the CUDA device where they take most; None where torch
            has not used CUDA in this process.
        gpu_memory_percent: The same as a share of that device's memory, 0 to 100.
        warnings: A line for each value above its threshold, as in the log.
    """

    cpu_percent: float
    memory_percent: float
    memory_available: float
    process_memory: float
    gpu_memory: float | None = None
    gpu_memory_percent: float | None = None
    warnings: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether nothing is above its threshold."""
        return not self.warnings

    def to_dict(self) -> dict[str, Any]:
        """Return the same as a dictionary of numbers and texts."""
        return asdict(self)


def monitor_resources(
    *,
    cpu_percent: float | None = 90.0,
    memory_percent: float | None = 90.0,
    process_memory: float | None = None,
    gpu_memory: float | None = 8000.0,
    gpu_memory_percent: float | None = None,
) -> ResourceReport:
    """Look at processor and memory, and write a warning to the log ``torchmagic.guard`` for what is too high.

    The first look in a process takes 0.1 s, later ones well below 1 ms. CUDA is not started by looking.

    Args:
        cpu_percent: Share of the processor above which is warned, 0 to 100; None, here and below, for never.
        memory_percent: Share of the machine's memory.
        process_memory: MB (2**20 bytes) of this process.
        gpu_memory: MB of this process's tensors on one CUDA device.
        gpu_memory_percent: The same as a share of that device's memory.

    Returns:
        What is in use.

    Raises:
        ValueError: If a threshold is no number of 0 or more; one line.

    Example:
        >>> report = monitor_resources(cpu_percent=None, memory_percent=None, gpu_memory=None)
        >>> report.ok, report.process_memory > 0
        (True, True)
    """
    most = {"cpu_percent": cpu_percent, "memory_percent": memory_percent, "process_memory": process_memory}
    most |= {"gpu_memory": gpu_memory, "gpu_memory_percent": gpu_memory_percent}
    for name, threshold in most.items():
        if threshold is not None and (isinstance(threshold, bool) or not threshold >= 0):
            raise ValueError(f"{name} is a number of 0 or more, or None, {threshold!r} came")
    memory = psutil.virtual_memory()
    gpu, share = _gpu()
    found = {
        "cpu_percent": _processor.percent(),
        "memory_percent": float(memory.percent),
        "process_memory": psutil.Process().memory_info().rss / MB,
        "gpu_memory": gpu,
        "gpu_memory_percent": share,
    }
    warnings = tuple(_warnings(found, most))
    for line in warnings:
        _log.warning("%s", line)
    return ResourceReport(memory_available=memory.available / MB, warnings=warnings, **found)  # type: ignore[arg-type] # names are above


_WORDS = {
    "cpu_percent": "High CPU usage: {:.1f}%",
    "memory_percent": "High memory usage: {:.1f}%",
    "process_memory": "High memory usage of this process: {:.1f}MB",
    "gpu_memory": "High GPU memory usage: {:.1f}MB",
    "gpu_memory_percent": "High GPU memory usage: {:.1f}%",
}


def _warnings(found: dict[str, float | None], most: dict[str, float | None]) -> list[str]:
    pairs = [(name, value, most[name]) for name, value in found.items()]
    return [
        _WORDS[name].format(value)
        for name, value, threshold in pairs
        if value is not None and threshold is not None and value > threshold
    ]


def _gpu() -> tuple[float | None, float | None]:
    if not torch.cuda.is_initialized():  # type: ignore[no-untyped-call] # torch
        return None, None
    used = {device: torch.cuda.memory_allocated(device) for device in range(torch.cuda.device_count())}
    fullest = max(used, key=lambda device: used[device])
    total = torch.cuda.get_device_properties(fullest).total_memory
    return used[fullest] / MB, 100 * used[fullest] / total


class _Processor:
    """The share of busy time between two looks; psutil's own memory of the last look is the user's."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last: tuple[float, float] | None = None
        self._at, self._share = 0.0, 0.0

    def percent(self) -> float:
        """Return the share since the last look, 0 to 100; waits for ``SHORTEST`` at the first one."""
        with self._lock:
            if self._last is None:
                self._last, self._at = _times(), time.monotonic()
                time.sleep(SHORTEST)
            if time.monotonic() - self._at >= SHORTEST:
                before, self._last, self._at = self._last, _times(), time.monotonic()
                whole = self._last[1] - before[1]
                busy = self._last[0] - before[0]
                self._share = min(100.0, max(0.0, 100 * busy / whole)) if whole > 0 else self._share
            return self._share


def _times() -> tuple[float, float]:
    """Return the seconds that all cores were busy, and that they were there."""
    spent = psutil.cpu_times()._asdict()
    # What guests took is in user and nice already.
    whole = sum(value for name, value in spent.items() if not name.startswith("guest"))
    idle = spent.get("idle", 0.0) + spent.get("iowait", 0.0)
    return whole - idle, whole


_processor = _Processor()
