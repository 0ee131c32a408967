"""This file is the four plots of the comprehensive report: time, memory, gradient norm, and where findings began."""

import math
from collections.abc import Sequence

from torchmagic.exports.step_seconds import step_seconds
from torchmagic.records.finding import Severity
from torchmagic.session.run import Run
from torchmagic.views.page import Line, Plot
from torchmagic.views.run_names import labels

MEBIBYTE = 2**20
MEMORY = (("rss_bytes", "CPU memory"), ("cuda_bytes", "GPU memory"))


def four_plots(runs: Sequence[Run]) -> tuple[Plot, Plot, Plot, Plot]:
    """Return the plots, each over optimizer steps, with a line a run.

    The last one counts findings up to each step, by severity.
    """
    several, called = len(runs) > 1, list(zip(labels(runs), runs, strict=True))
    times = [_line(name if several else "step", *_pairs(step_seconds(run))) for name, run in called]
    norms = [_line(name if several else "total", *run.series("grad_norm", name="")) for name, run in called]
    memory = [
        _line(f"{name}: {kind}" if several else kind, run.series(metric)[0], _scaled(run.series(metric)[1]))
        for name, run in called
        for metric, kind in MEMORY
        if run.series(metric)[0]
    ]
    return (
        Plot(title="Execution Time", lines=times, y_label="seconds a step"),
        Plot(title="Memory Usage", lines=memory, y_label="MB"),
        Plot(title="Gradient Norm", lines=norms, y_label="norm"),
        Plot(title="Anomaly Detection", lines=_findings(runs), y_label="findings so far"),
    )


def _findings(runs: Sequence[Run]) -> list[Line]:
    last = max((run.steps for run in runs), default=0)
    lines = []
    for severity in Severity:
        steps = sorted(each.step or 0 for run in runs for each in run.findings if each.severity == severity)
        if steps:
            counted = [(0, 0.0)] if steps[0] else []
            for number, step in enumerate(steps):
                counted += [(step, float(number)), (step, number + 1.0)]
            counted.append((max(last, steps[-1]), float(len(steps))))
            lines.append(_line(severity.value, [x for x, _ in counted], [y for _, y in counted]))
    return lines


def _line(name: str, steps: Sequence[float], values: Sequence[float]) -> Line:
    return Line(name=name, steps=steps, values=[value if math.isfinite(value) else math.nan for value in values])


def _scaled(values: Sequence[float]) -> list[float]:
    return [value / MEBIBYTE for value in values]


def _pairs(found: dict[int, float]) -> tuple[list[int], list[float]]:
    return list(found), list(found.values())
