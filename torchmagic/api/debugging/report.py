"""This file is the report of a debugger: its operations in numbers, and four plots of them."""

import math
from pathlib import Path
from typing import Any

from torchmagic.api.debugging.config import DebugConfig
from torchmagic.api.debugging.history import History
from torchmagic.api.debugging.info import DebugInfo
from torchmagic.exports.destination import inside
from torchmagic.session.whole_file import one_whole_file
from torchmagic.views.page import Line, Plot
from torchmagic.views.skins.matplotlib import as_grid_png

PICTURE = "debug_analysis.png"
TITLE = "PyTorch Debug Analysis"


def debug_summary(history: History, *, num_optimizations: int) -> dict[str, Any]:
    """Return the operations of a debugger in a few numbers; times and memory are NaN before the first operation.

    Args:
        history: The operations.
        num_optimizations: How many models were optimised.
    """
    totals = history.totals
    most_seconds = totals.seconds.ends[1]
    return {
        "total_operations": totals.number,
        "avg_execution_time": _or_nan(totals.seconds.mean),
        "max_execution_time": _or_nan(most_seconds),
        "avg_memory_usage": _or_nan(totals.memory.mean),
        "total_optimizations": num_optimizations,
        "total_anomalies": totals.anomalies,
        "debug_history_length": len(history.entries),
    }


def debug_report(history: History, config: DebugConfig) -> dict[str, Any]:
    """Return the operations of a debugger in numbers: seconds, MB (2**20 bytes) of change, norms.

    A number that was not measured is None, never a made-up zero.
    """
    totals = history.totals
    least, most = totals.seconds.ends
    return {
        "summary": {
            "total_debug_operations": totals.number,
            "anomalies_detected": totals.anomalies,
            "memory_leaks_detected": totals.memory_leaks,
            "performance_issues_detected": totals.performance_issues,
            "debug_mode": config.mode.value,
            "debug_level": config.level.value,
        },
        "performance_analysis": {
            "average_execution_time": totals.seconds.mean,
            "max_execution_time": most,
            "min_execution_time": least,
        },
        "memory_analysis": {
            "average_memory_usage": totals.memory.mean,
            "max_memory_usage": totals.memory.ends[1],
            "average_gpu_memory": totals.device.mean,
            "max_gpu_memory": totals.device.ends[1],
        },
        "gradient_analysis": {
            "average_gradient_norm": totals.gradient_norm.mean,
            "max_gradient_norm": totals.gradient_norm.ends[1],
            "gradient_anomalies": totals.gradient_anomalies,
        },
        "operation_breakdown": dict(totals.operations),
    }


def debug_plots(history: History, folder: str | Path) -> Path | None:
    """Write the four plots of the newest operations as one picture.

    Args:
        history: The operations.
        folder: Where to; made unless it is there.

    Returns:
        The picture's path; None before the first operation.

    Raises:
        OSError: If it cannot be written.
    """
    infos = history.entries
    if not infos:
        return None
    path = Path(folder)
    path.mkdir(parents=True, exist_ok=True)
    picture = as_grid_png(_plots(infos), title=TITLE)
    with one_whole_file(inside(path, PICTURE)) as draft:
        draft.write_bytes(picture)
    return path / PICTURE


def _plots(infos: list[DebugInfo]) -> list[Plot]:
    first = infos[0].timestamp
    times = [(info.timestamp - first).total_seconds() for info in infos]
    found = 0
    anomalies = [float(found := found + info.anomaly_detected) for info in infos]
    memory = [_line("CPU memory", times, [info.memory_usage for info in infos])]
    if any(info.gpu_memory is not None for info in infos):
        memory.append(_line("GPU memory", times, [info.gpu_memory for info in infos]))
    norms = [
        (time, info.gradient_norm) for time, info in zip(times, infos, strict=True) if info.gradient_norm is not None
    ]
    since = "seconds since the first operation"
    return [
        Plot(
            title="Execution Time",
            lines=[_line("operation", times, [info.execution_time for info in infos])],
            x_label=since,
            y_label="seconds",
        ),
        Plot(title="Memory Usage", lines=memory, x_label=since, y_label="MB of change"),
        Plot(
            title="Gradient Norm",
            lines=[_line("all gradients", [time for time, _ in norms], [norm for _, norm in norms])],
            x_label=since,
            y_label="norm",
        ),
        Plot(
            title="Anomaly Detection",
            lines=[_line("operations with an anomaly", times, anomalies)],
            x_label=since,
            y_label="so far",
        ),
    ]


def _line(name: str, times: list[float], values: list[Any]) -> Line:
    return Line(name=name, steps=times, values=[math.nan if value is None else float(value) for value in values])


def _or_nan(value: float | None) -> float:
    return math.nan if value is None else value
