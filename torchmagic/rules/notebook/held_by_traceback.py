"""Tensors stay in memory because the last error's traceback holds them.

*Symptom*: after a cell failed, often for want of memory, its memory is not free, and a smaller batch fails too.

*Why it happens*: Python keeps the last uncaught exception in ``sys.last_exc``, with every frame it passed and the
variables in them: batches, activations, the loss and its graph.

*What to try*: run another failing line, such as ``1/0``, or delete ``sys.last_exc``, ``sys.last_value`` and
``sys.last_traceback``; then ``torch.cuda.empty_cache()`` on a GPU.

*Source*: PyTorch issues 36874 and 27600; IPython issue 11572.
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
def held_by_traceback(run: Run, *, min_bytes: int = MIN_BYTES, large_bytes: int = LARGE_BYTES) -> Iterator[Finding]:
    """Report tensors that only the last traceback keeps, from a size on."""
    held = held_by(run, "traceback")
    if held is None or held.num_bytes < min_bytes:
        return
    yield Finding(
        rule="held-by-traceback",
        severity=Severity.WARNING if held.num_bytes >= large_bytes else Severity.INFO,
        confidence=0.95,
        title=f"the last error's traceback keeps {held.num_bytes / 2**20:.0f} MiB, most of it {held.largest.name}",
        evidence={
            "MiB": round(held.num_bytes / 2**20),
            "threshold": round(min_bytes / 2**20),
            "held by": few(held.names),
        },
        why="Python keeps the frames of the last uncaught exception, and the variables in them.",
        fix="import sys; del sys.last_exc, sys.last_value, sys.last_traceback",
    )
