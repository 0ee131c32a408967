"""This file is the view of a run's resources: where its time went, and its memory."""

from torchmagic.analyses.time_split import time_split
from torchmagic.records.note import EnvironmentRecord
from torchmagic.session.run import Run
from torchmagic.views.memory import holder_blocks, memory_facts, memory_plots, memory_shares
from torchmagic.views.numbers import as_seconds
from torchmagic.views.page import Block, Facts, Page, Shares

NAMES = {"data": "waiting for data", "torchmagic": "torchmagic"}


def resources_page(run: Run) -> Page:
    """Return who holds memory too long, the split of the wall time and of the memory, and memory over the steps."""
    parts = [(NAMES.get(name, name), seconds) for name, seconds in time_split(run).items() if seconds]
    blocks: list[Block] = holder_blocks(run)
    if any(seconds for _, seconds in parts):
        blocks.append(Shares(title="Where the time went", parts=parts, unit="s"))
    blocks += memory_shares(run)
    facts = _facts(run)
    if facts:
        blocks.append(Facts(rows=facts))
    return Page(title="Memory & time", blocks=[*blocks, *memory_plots(run)])


def _facts(run: Run) -> list[tuple[str, str]]:
    rows = []
    if run.steps and run.clock.seconds:
        rows.append(("time per step", as_seconds((run.clock.seconds - run.clock.cost) / run.steps)))
    rows += memory_facts(run)
    rows.extend(("environment", _environment(record)) for record in run.of(EnvironmentRecord)[-1:])
    return rows


def _environment(record: EnvironmentRecord) -> str:
    threads = "1 thread" if record.num_threads == 1 else f"{record.num_threads} threads"
    return f"torch {record.torch}, Python {record.python}, {record.device}, {threads}"
