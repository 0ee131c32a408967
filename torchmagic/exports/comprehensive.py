"""This file exports the comprehensive report: a summary in JSON, and one picture of four plots."""

import json
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from torchmagic.analyses.time_split import PHASES
from torchmagic.exports.destination import inside
from torchmagic.exports.exporter import Exporter
from torchmagic.exports.four_plots import four_plots
from torchmagic.exports.step_seconds import step_seconds
from torchmagic.records.finding import Finding
from torchmagic.rules.catalogue import RULES
from torchmagic.session.run import Run
from torchmagic.session.whole_file import one_whole_file
from torchmagic.views.skins.matplotlib import as_grid_png

MEBIBYTE = 2**20
# Groups of rules that say how training went wrong, by what the report counts.
LEAKS = frozenset({"retained-graph-leak", "held-by-output", "held-by-traceback", "out-of-memory"})
SLOW = frozenset({"data-bound", "sync-in-loop", "worker-oversubscription", "anomaly-left-on", "dtype-float64"}) | {
    rule.id for rule in RULES if rule.group == "speed"
}
GRADIENTS = frozenset({"exploding-gradient", "vanishing-gradient", "nonfinite-gradient", "amp-overflow-skips"})


def comprehensive_report(runs: Run | Sequence[Run]) -> dict[str, Any]:
    """Return what was seen in one or several runs, in numbers.

    Times are seconds of a step, memory is MB of the process (2**20 bytes) and of the CUDA device, gradient norms are
    those of all parameters together. A number that was not measured is None, never a made-up zero.

    Returns:
        ``summary`` (``total_debug_operations``: steps; ``anomalies_detected``, ``memory_leaks_detected`` and
        ``performance_issues_detected``: findings; ``debug_mode``, ``debug_level``), ``performance_analysis``,
        ``memory_analysis``, ``gradient_analysis``, and ``operation_breakdown``: how many steps had each phase.
    """
    listed = [runs] if isinstance(runs, Run) else list(runs)
    found = [finding for run in listed for finding in run.findings]
    norms = _finite(value for run in listed for value in run.series("grad_norm", name="")[1])
    times = [seconds for run in listed for seconds in step_seconds(run).values()]
    memory = {metric: _mebibytes(listed, metric) for metric in ("rss_bytes", "cuda_bytes", "cuda_peak_bytes")}
    return {
        "summary": {
            "total_debug_operations": sum(run.steps for run in listed),
            "anomalies_detected": len(found) - _count(found, LEAKS) - _count(found, SLOW),
            "memory_leaks_detected": _count(found, LEAKS),
            "performance_issues_detected": _count(found, SLOW),
            "debug_mode": _setting(listed, "mode", "full_debug"),
            "debug_level": _setting(listed, "level", ""),
        },
        "performance_analysis": {
            "average_execution_time": _mean(times),
            "max_execution_time": max(times, default=None),
            "min_execution_time": min(times, default=None),
        },
        "memory_analysis": {
            "average_memory_usage": _mean(memory["rss_bytes"]),
            "max_memory_usage": max(memory["rss_bytes"], default=None),
            "average_gpu_memory": _mean(memory["cuda_bytes"]),
            "max_gpu_memory": max(memory["cuda_peak_bytes"] or memory["cuda_bytes"], default=None),
        },
        "gradient_analysis": {
            "average_gradient_norm": _mean(norms),
            "max_gradient_norm": max(norms, default=None),
            "gradient_anomalies": _count(found, GRADIENTS),
        },
        "operation_breakdown": _breakdown(listed),
    }


def write(runs: Sequence[Run], folder: Path) -> None:
    """Write ``report.json`` and ``debug_analysis.png``."""
    with one_whole_file(inside(folder, "report.json")) as draft:
        draft.write_text(json.dumps(comprehensive_report(runs), indent=2, allow_nan=False) + "\n", encoding="utf-8")
    picture = as_grid_png(four_plots(runs), title="PyTorch Debug Analysis")
    with one_whole_file(inside(folder, "debug_analysis.png")) as draft:
        draft.write_bytes(picture)


def _breakdown(runs: Sequence[Run]) -> dict[str, int]:
    counts = {
        phase: sum(seconds > 0 for run in runs for seconds in run.series("seconds", name=phase)[1]) for phase in PHASES
    }
    return {phase: number for phase, number in counts.items() if number}


def _mebibytes(runs: Sequence[Run], metric: str) -> list[float]:
    return _finite(value / MEBIBYTE for run in runs for value in run.series(metric)[1])


def _finite(values: Iterable[float]) -> list[float]:
    return [value for value in values if math.isfinite(value)]


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None


def _count(findings: Iterable[Finding], rules: frozenset[str]) -> int:
    return sum(finding.rule in rules for finding in findings)


def _setting(runs: Sequence[Run], name: str, unknown: str) -> str:
    return ", ".join(dict.fromkeys(str(run.settings.get(name) or unknown) for run in runs))


EXPORTER = Exporter(name="report", what="report.json and debug_analysis.png", write=write)
