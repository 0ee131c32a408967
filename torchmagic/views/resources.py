"""This file is the view of a run's resources: where its time went, and its memory."""

from collections.abc import Sequence

from torchmagic.analyses.time_split import time_split
from torchmagic.records.note import EnvironmentRecord
from torchmagic.session.run import Run
from torchmagic.views.numbers import as_bytes, as_seconds
from torchmagic.views.page import Block, Facts, Line, Page, Plot, Shares

MEBIBYTE = 2**20
NAMES = {"data": "waiting for data", "torchmagic": "torchmagic"}
MEMORY = (("rss_bytes", "process"), ("cuda_bytes", "CUDA allocated"), ("cuda_peak_bytes", "CUDA peak"))


def resources_page(run: Run) -> Page:
    """Return the split of the wall time, time per step, and memory over steps."""
    parts = [(NAMES.get(name, name), seconds) for name, seconds in time_split(run).items()]
    blocks: list[Block] = [Shares(title="Where the time went", parts=parts, unit="s"), Facts(rows=_facts(run))]
    lines = [_memory(run, metric, name) for metric, name in MEMORY if run.series(metric)[0]]
    if lines:
        blocks.append(Plot(title="memory", lines=lines, y_label="MiB"))
    return Page(title="Memory & time", blocks=blocks)


def _facts(run: Run) -> list[tuple[str, str]]:
    rows = []
    if run.steps and run.clock.seconds:
        rows.append(("time per step", as_seconds((run.clock.seconds - run.clock.cost) / run.steps)))
    for metric, name in MEMORY:
        values = run.series(metric)[1]
        if values:
            rows.append((f"{name} memory, peak", f"{as_bytes(max(values))} ({_growth(values)})"))
    rows.extend(("environment", _environment(record)) for record in run.of(EnvironmentRecord))
    return rows


def _environment(record: EnvironmentRecord) -> str:
    threads = "1 thread" if record.num_threads == 1 else f"{record.num_threads} threads"
    return f"torch {record.torch}, Python {record.python}, {record.device}, {threads}"


def _growth(values: Sequence[float]) -> str:
    grown = values[-1] - values[0]
    return f"{'+' if grown >= 0 else '-'}{as_bytes(abs(grown))} over the run"


def _memory(run: Run, metric: str, name: str) -> Line:
    steps, values = run.series(metric)
    return Line(name=name, steps=steps, values=[value / MEBIBYTE for value in values])
