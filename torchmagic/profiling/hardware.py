"""This file is the hardware: what the machine can multiply fast, by its own word, and on a processor as measured."""

import os
import time
from functools import cache

import torch

from torchmagic.records.speed import HardwareRecord

# From these compute capabilities on an accelerator of NVIDIA's multiplies these types by instructions of its own.
HALF_BY_CAPABILITY = (((8, 0), "bfloat16"), ((7, 0), "float16"))
# What torch asks a processor for.
BFLOAT16_QUESTIONS = ("_is_avx512_bf16_supported", "_is_amx_tile_supported")
# Side of the matrices that are multiplied, and how often; a second tells the same as these milliseconds.
SIDE, TIMES = 384, 5


def hardware_of(device: torch.device) -> HardwareRecord:
    """Return what a device is capable of.

    Args:
        device: Where a model is.
    """
    accelerated = device.type == "cuda" and torch.cuda.is_initialized()  # type: ignore[no-untyped-call] # torch
    capability, half = _accelerators(device) if accelerated else _processors()
    return HardwareRecord(
        device=device.type,
        capability=capability,
        half=half,
        half_speed=None if accelerated or not half else _half_speed(torch.get_num_threads()),
        threads=torch.get_num_threads(),
        cores=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
    )


def _accelerators(device: torch.device) -> tuple[str, str]:
    found = torch.cuda.get_device_capability(device)
    half = next((name for least, name in HALF_BY_CAPABILITY if found >= least), "")
    return f"{found[0]}.{found[1]}", half


def _processors() -> tuple[str, str]:
    answers = [getattr(torch.cpu, question, bool)() for question in BFLOAT16_QUESTIONS]
    return torch.backends.cpu.get_cpu_capability(), "bfloat16" if any(answers) else ""


@cache
def _half_speed(_num_threads: int) -> float:
    """Return how many times as fast bfloat16 is; measured once a process for each number of threads."""
    pairs = [torch.ones(SIDE, SIDE, dtype=dtype) for dtype in (torch.float32, torch.bfloat16)]
    for matrix in pairs:
        torch.mm(matrix, matrix)  # loads what it needs
    times = [[_product(matrix) for matrix in pairs] for _ in range(TIMES)]
    full, half = (min(column) for column in zip(*times, strict=True))
    return float(full / half)


def _product(matrix: torch.Tensor) -> float:
    began = time.perf_counter()
    torch.mm(matrix, matrix)
    return time.perf_counter() - began
