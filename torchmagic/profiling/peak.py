"""This file measures the peak: most floating point operations that this machine does in a second."""

import time
from functools import cache

import torch

from torchmagic.tensors.accelerators import wait_for

# Side of the smallest and the largest matrices that are multiplied, each so often.
SMALLEST, LARGEST, TIMES = 256, 8192, 3
PATIENCE = 0.06  # how long all of it may take (s)
GROWTH = 8  # of the time, when the side doubles


def peak_flops(device: str) -> float:
    """Return the most operations a second in a matrix product of float32, two for a multiply and add.

    Measured once a process for each device and number of threads, within 60 ms; no random number is drawn.

    Args:
        device: ``cpu`` or ``cuda``.
    """
    return _measured(device, torch.get_num_threads())


@cache
def _measured(device: str, _num_threads: int) -> float:
    _product(torch.ones(SMALLEST, SMALLEST, dtype=torch.float32, device=device))  # loads what it needs
    best, side, began = 0.0, SMALLEST, time.perf_counter()
    while side <= LARGEST:
        matrix = torch.ones(side, side, dtype=torch.float32, device=device)
        for _ in range(TIMES):
            took = _product(matrix)
            best = max(best, 2 * side**3 / took)
            if time.perf_counter() - began + took > PATIENCE:
                return best
        if time.perf_counter() - began + GROWTH * took > PATIENCE:
            return best
        side *= 2
    return best


def _product(matrix: torch.Tensor) -> float:
    """Return the seconds that a matrix takes to be multiplied with itself."""
    wait_for(matrix.device)
    began = time.perf_counter()
    torch.mm(matrix, matrix)
    wait_for(matrix.device)
    return time.perf_counter() - began
