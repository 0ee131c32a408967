"""This file is the most memory that a step takes above what was held before it."""

from collections.abc import Callable
from typing import Any

import torch
from torch._C._autograd import _profiler_enabled
from torch.profiler import ProfilerActivity, profile

from torchmagic.models.quiet_terminal import quiet_kineto, quiet_terminal
from torchmagic.session.ignored_warnings import ignored_warnings

MIB = 1 << 20
_EVENT = "[memory]"


def peak_memory(deed: Callable[[], Any], device: torch.device) -> float | None:
    """Run something and return its peak of memory.

    On CUDA the allocator's own count, whose peak is set back for it; on the CPU every allocation and release that
    torch's profiler notes down, which has to be free for it.

    Args:
        deed: What is run, once; what it raises is raised.
        device: Where it runs.

    Returns:
        MiB above what was held before; None where it could not be measured, on other devices or in another's profile.
    """
    if device.type == "cuda":
        return _on_cuda(deed, device)
    if device.type != "cpu" or _profiler_enabled():
        deed()
        return None
    recording = _recorded(deed)
    inner = recording.profiler
    results = inner.kineto_results if inner is not None else None
    events: Any = results.events() if results is not None else []
    changes = sorted((each.start_ns(), each.nbytes()) for each in events if each.name() == _EVENT)
    held = peak = 0
    for _, change in changes:
        held += change
        peak = max(peak, held)
    return peak / MIB


def _recorded(deed: Callable[[], Any]) -> profile:
    recording = profile(activities=[ProfilerActivity.CPU], profile_memory=True)
    with quiet_kineto(), ignored_warnings(UserWarning):  # older torch warns at every start
        recording.start()
    try:
        with quiet_terminal():  # of every thousandth release of what the profiler does not know, torch writes a line
            deed()
    finally:
        with quiet_kineto():
            recording.stop()
    return recording


def _on_cuda(deed: Callable[[], Any], device: torch.device) -> float:
    torch.cuda.synchronize(device)
    before = torch.cuda.memory_allocated(device)
    torch.cuda.reset_peak_memory_stats(device)
    deed()
    torch.cuda.synchronize(device)
    return (torch.cuda.max_memory_allocated(device) - before) / MIB
