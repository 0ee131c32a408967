"""This file is the view of a run's memory: who holds more than needed, what it was used for, and how it grew."""

from torchmagic.session.run import Run
from torchmagic.views.memory import holder_blocks, memory_facts, memory_plots, memory_shares
from torchmagic.views.page import Block, Facts, Page


def memory_page(run: Run) -> Page:
    """Return the memory of the model and of the process; nothing where none was measured."""
    facts = memory_facts(run)
    blocks: list[Block] = [*holder_blocks(run), *memory_shares(run)]
    if facts:
        blocks.append(Facts(rows=facts))
    return Page(title="Memory", blocks=[*blocks, *memory_plots(run)])
