"""This file is the meter of an operation: its seconds, and how memory changed since it began."""

import os
import time
from dataclasses import dataclass
from functools import cache

import psutil
import torch

MB = 2**20


def process_memory() -> float:
    """Return what the process has in memory, in MB (2**20 bytes)."""
    return float(_process(os.getpid()).memory_info().rss) / MB


def process_share() -> float:
    """Return what the process has of the machine's memory, in percent."""
    return float(_process(os.getpid()).memory_percent())


def device_memory() -> float | None:
    """Return what tensors take on the present CUDA device, in MB (2**20 bytes); None where CUDA is not in use."""
    if not torch.cuda.is_initialized():  # type: ignore[no-untyped-call] # torch
        return None
    return torch.cuda.memory_allocated() / MB


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What was measured of an operation that is over.

    Args:
        seconds: How long it took.
        memory: How much the process's memory grew, in MB; below zero where it shrank.
        device: The same of the CUDA device; None where CUDA is not in use.
    """

    seconds: float = 0.0
    memory: float = 0.0
    device: float | None = None


class Meter:
    """Measures an operation that goes on; each reading is of that moment, in the units of ``Measured``."""

    __slots__ = ("_began", "_device", "_memory")

    def __init__(self) -> None:
        self._memory, self._device = process_memory(), device_memory()
        self._began = time.perf_counter()

    @property
    def seconds(self) -> float:
        """Seconds since it began."""
        return time.perf_counter() - self._began

    @property
    def memory(self) -> float:
        """How much the process's memory has grown."""
        return process_memory() - self._memory

    @property
    def device(self) -> float | None:
        """How much the CUDA device's memory has grown."""
        now = device_memory()
        return None if now is None else now - (self._device or 0.0)

    def stop(self) -> Measured:
        """Return what was measured up to now."""
        seconds = self.seconds
        return Measured(seconds=seconds, memory=self.memory, device=self.device)


@cache
def _process(number: int) -> psutil.Process:
    """Return a process by its number: making one takes longer than to ask it, and a fork has another number."""
    return psutil.Process(number)
