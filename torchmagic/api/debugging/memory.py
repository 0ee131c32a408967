"""This file is what a debugger says of memory: how much there is now, and whether it grows without end."""

from datetime import UTC, datetime
from typing import Any

from torchmagic.api.debugging.context_watch import How
from torchmagic.api.debugging.contexts import Contexts
from torchmagic.api.debugging.leak_words import is_leak, told
from torchmagic.api.debugging.meter import device_memory, process_memory, process_share
from torchmagic.api.debugging.pace import checks_memory
from torchmagic.models.leaks import MemoryTrend


def profile_memory(contexts: Contexts, name: str) -> dict[str, Any]:
    """Take down what memory is used now.

    Args:
        contexts: The debugger's contexts.
        name: What is being done.

    Returns:
        ``operation``, ``timestamp``; ``cpu_memory``: the process's share of the machine's memory in percent;
        ``cpu_memory_mb``: the same in MB (2**20 bytes); ``gpu_memory``: MB of tensors on the CUDA device, None where
        CUDA is not in use; ``memory_leaks``: a sentence where memory grows steadily from call to call, else empty.
    """
    return _taken(contexts, name, contexts.sample())


def _taken(contexts: Contexts, name: str, trend: MemoryTrend | None) -> dict[str, Any]:
    taken = {
        "operation": name,
        "timestamp": datetime.now(UTC).astimezone().isoformat(),
        "cpu_memory": process_share(),
        "cpu_memory_mb": process_memory(),
        "gpu_memory": device_memory(),
        "memory_leaks": [] if trend is None or not is_leak(trend) else [told(trend)],
    }
    contexts.taken.append(taken)
    return taken


def memory_usage(contexts: Contexts, *, epoch: int = 0, batch: int = 0) -> tuple[float, float | None]:
    """Look at memory as an operation of its own.

    Returns:
        What the process has in MB (2**20 bytes), and what tensors take on the CUDA device, None where it is not in use.
    """
    with contexts.open("memory_profiling", epoch=epoch, batch=batch, how=How.PACED) as info:
        is_due = checks_memory(contexts.config, contexts.number(info.operation))
        taken = _taken(contexts, info.operation, contexts.sample() if is_due else None)
        taken |= {"epoch": epoch, "batch": batch}
        info.memory_leak_detected |= bool(taken["memory_leaks"])
        if contexts.config.log_memory:
            contexts.logger.debug(
                "memory: %.1f MB in the process, %s on the device", taken["cpu_memory_mb"], _device(taken)
            )
        return taken["cpu_memory_mb"], taken["gpu_memory"]


def _device(taken: dict[str, Any]) -> str:
    return "none" if taken["gpu_memory"] is None else f"{taken['gpu_memory']:.1f} MB"
