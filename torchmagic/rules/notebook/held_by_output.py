"""Tensors stay in memory because the notebook's outputs hold them.

*Symptom*: memory does not fall after ``del x``; it grows with each cell that ends in a tensor.

*Why it happens*: IPython keeps the value of each cell's last line in ``Out`` and in ``_``, with the whole graph behind
it where it has one.

*What to try*: end the line with ``;`` or print what you want to see; ``%reset -f out`` lets all outputs go.

*Source*: IPython documentation, "Output caching system".
"""

from collections.abc import Iterator

from torchmagic.analyses.counting import few
from torchmagic.analyses.holders import held_by
from torchmagic.records.finding import Finding, Severity
from torchmagic.rules.rule import rule
from torchmagic.session.run import Run

# What a kernel never misses, and what many machines do miss (bytes).
MIN_BYTES, LARGE_BYTES = 16 * 2**20, 2**30


@rule
def held_by_output(run: Run, *, min_bytes: int = MIN_BYTES, large_bytes: int = LARGE_BYTES) -> Iterator[Finding]:
    """Report tensors that only ``Out`` and ``_`` keep, from a size on."""
    held = held_by(run, "output")
    if held is None or held.num_bytes < min_bytes:
        return
    yield Finding(
        rule="held-by-output",
        severity=Severity.WARNING if held.num_bytes >= large_bytes else Severity.INFO,
        confidence=0.95,
        title=f"{held.largest.name} keeps {held.num_bytes / 2**20:.0f} MiB that no variable needs",
        evidence={
            "MiB": round(held.num_bytes / 2**20),
            "threshold": round(min_bytes / 2**20),
            "held by": few(held.names),
            "keeps a graph": "yes" if held.largest.has_graph else "no",
        },
        why="IPython keeps what the last line of a cell gave, and del on a variable does not change that.",
        fix="%reset -f out  # and end such lines with ; from now on",
    )
