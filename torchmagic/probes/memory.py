"""This file measures memory: the process's resident bytes, and the device's allocated bytes where there is one."""

import os
import sys
from pathlib import Path

import psutil
import torch

from torchmagic.probes.free_memory import free_bytes
from torchmagic.probes.taps import Taps
from torchmagic.probes.wrappers import now
from torchmagic.session.recorder import Recorder

# Reading costs a microsecond; more often than this tells nothing new (ns).
BETWEEN_READINGS = 20_000_000
# Asking what is free takes a hundred times as long, and is for runs that die of it: as often as they are stored (ns).
BETWEEN_ASKING = 1_000_000_000
_STATM = Path("/proc/self/statm")


class Memory:
    """Records ``rss_bytes`` and, with CUDA in use, ``cuda_bytes`` and ``cuda_peak_bytes``, at most each 20 ms.

    Each second it also records ``free_bytes``, what the process could still have had.

    Attributes:
        next_reading: What the clock says when the next reading is due (ns).
    """

    def __init__(self) -> None:
        self._recorder: Recorder | None = None
        self.next_reading = 0
        self._asked = -BETWEEN_ASKING
        self._file: int | None = None

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Open what is read at each step."""
        self._recorder = recorder
        if sys.platform == "linux":
            self._file = os.open(_STATM, os.O_RDONLY)
        self._read()

    def flush(self, step: int) -> None:
        """Read once a step at most."""
        if now() >= self.next_reading:
            self._read()

    def detach(self) -> None:
        """Read a last time and close."""
        if self._recorder is not None:
            self._read()
            self._recorder = None
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _read(self) -> None:
        if self._recorder is None:
            return
        present = now()
        self.next_reading = present + BETWEEN_READINGS
        if self._file is not None:
            resident = int(os.pread(self._file, 128, 0).split()[1]) * os.sysconf("SC_PAGE_SIZE")
        else:
            resident = psutil.Process().memory_info().rss
        self._recorder.append("rss_bytes", (resident,))
        if present - self._asked >= BETWEEN_ASKING:
            self._asked = present
            self._recorder.append("free_bytes", (free_bytes(),))
        if torch.cuda.is_initialized():  # type: ignore[no-untyped-call] # torch
            self._recorder.append("cuda_bytes", (torch.cuda.memory_allocated(),))
            self._recorder.append("cuda_peak_bytes", (torch.cuda.max_memory_allocated(),))
