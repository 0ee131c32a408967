"""This file is the watch over memory from step to step: how much there is, and whether it leaks."""

from typing import Any

from torchmagic.api.debugging.meter import device_memory, process_memory
from torchmagic.models.leaks import MemoryTrend, MemoryWindow

# The trend is looked at each so many steps.
BETWEEN_TRENDS = 32


class MemoryWatch:
    """Samples of the CUDA device's memory where CUDA is in use, else of the process's, in MB (2**20 bytes)."""

    def __init__(self) -> None:
        self._window, self._looks = MemoryWindow(), 0
        self._trend: MemoryTrend | None = None

    def look(self) -> dict[str, Any]:
        """Take a sample; return ``memory``, ``gpu_memory`` (None without CUDA), both in MB, and ``memory_trend``."""
        memory, device = process_memory(), device_memory()
        self._window.add(self._looks, memory if device is None else device)
        self._looks += 1
        if self._looks % BETWEEN_TRENDS == 0:
            self._trend = self._window.trend()
        return {
            "memory": memory,
            "gpu_memory": device,
            "memory_trend": self._trend.reason if self._trend is not None else "",
        }

    def summary(self) -> dict[str, Any]:
        """Return ``memory_leak``, and ``memory_growth_per_step`` in MB, 0 where that is not known."""
        trend = self._trend
        return {
            "memory_leak": trend is not None and trend.is_leak,
            "memory_growth_per_step": 0.0 if trend is None else trend.slope,
        }

    def clear(self) -> None:
        """Forget all samples."""
        self._window.clear()
        self._looks, self._trend = 0, None
