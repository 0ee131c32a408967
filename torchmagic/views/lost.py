"""This file is the view of a lost run: what was seen of it up to the death of its process."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime

from torchmagic.analyses.counting import counted
from torchmagic.analyses.last_memory import last_memory
from torchmagic.session.run import Run
from torchmagic.views.curves import curves_page
from torchmagic.views.memory import process_plot
from torchmagic.views.numbers import as_bytes, as_seconds
from torchmagic.views.page import Block, Findings, Page, Plot, Text
from torchmagic.views.pages import run_pages


def lost_pages(run: Run) -> list[Page]:
    """Return what happened, the findings, memory and curves up to then; then all of the run's pages, folded."""
    return [
        Page(title="Lost run", blocks=list(_blocks(run))),
        *(replace(page, folded=True) for page in run_pages(run)),
    ]


def _blocks(run: Run) -> Iterator[Block]:
    yield Text(text=_end(run), strong=True)
    told = " ".join(_memory(run))
    if told:
        yield Text(text=told)
    if run.findings:
        yield Findings(findings=run.findings)
    else:
        yield Text(text="No findings up to then.")
    yield from process_plot(run)
    yield from (block for block in curves_page(run).blocks if isinstance(block, Plot))


def _end(run: Run) -> str:
    if not run.clock.seconds:
        return "The kernel died as this run began: nothing of it was seen."
    moment = datetime.fromtimestamp(run.clock.started + run.clock.seconds).astimezone()
    steps = "before the first step" if not run.steps else f"after {counted(run.steps, 'step')}"
    return (
        f"The kernel died while this run went on: it was last seen {steps} and {as_seconds(run.clock.seconds)}, "
        f"on {moment:%Y-%m-%d at %H:%M:%S}."
    )


def _memory(run: Run) -> Iterator[str]:
    memory = last_memory(run)
    if memory is None:
        return
    grown = f", {as_bytes(memory.grown)} more than at its start" if memory.grown > 0 else ""
    yield f"The process then held {as_bytes(memory.used)}{grown}."
    if memory.free is None:
        yield "How much memory was free was not recorded."
    elif memory.ran_out:
        yield f"Only {as_bytes(memory.free)} were free: it was probably killed because memory ran out."
    else:
        yield f"{as_bytes(memory.free)} were free. Memory is the cause only if one step asked for more."
