"""Each iteration leaves its autograd graph alive, so that memory grows from step to step.

*Symptom*: memory climbs steadily, steps become slower, and on a GPU the run ends out of memory after some epochs.

*Why it happens*: a tensor that was computed from parameters keeps the graph that made it. A running sum of losses, a
list or dict of metrics, or a recurrent state that is carried on keeps those of all iterations so far.

*What to try*: keep numbers, ``loss.item()``, or tensors without their graph, ``loss.detach()``; detach a recurrent
state between batches.

*Source*: PyTorch documentation, "Frequently Asked Questions" (do not accumulate history across your training loop).
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from torchmagic.analyses.counting import few
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.memory import RetainedGraphRecord
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run

# The catalogue asks for five iterations whose graphs live on; a step may make many graphs that soon go together.
MIN_GRAPHS = 5
# What is kept is told from so many bytes on.
LEAST_BYTES = 1 << 16
# Graphs that a step adds while they grow; those of a few steps that come and go stay far below.
MIN_GROWTH = 0.5
# A store of fixed size is full when so many looks, so far apart, find about as many graphs.
FULL_LOOKS, FULL_STEPS, FULL_SPREAD = 3, 32, 2


@rule
def retained_graph_leak(run: Run, *, min_graphs: int = MIN_GRAPHS, min_growth: float = MIN_GROWTH) -> Iterator[Finding]:
    """Report that graphs of earlier steps live on, and are more and more."""
    records = [each for each in run.of(RetainedGraphRecord) if min(each.count, each.step - each.oldest) >= min_graphs]
    steps, counts = run.series("live_graphs")
    points = [(step, count) for step, count in dict(zip(steps, counts, strict=True)).items()]
    if not records or not _grows(points, min_graphs, min_growth) or _is_full(points):
        return
    record = max(records, key=lambda each: (bool(each.holders), each.count))
    most = max(each.count for each in records)
    keepers = few(record.holders)
    evidence: dict[str, float | str] = {"graphs of earlier steps alive": most, "threshold": min_graphs}
    if record.num_bytes is not None and record.num_bytes >= LEAST_BYTES:
        evidence["MiB kept, at least"] = round(record.num_bytes / 2**20, 4)
    if keepers:
        evidence["held by"] = keepers
    yield Finding(
        rule="retained-graph-leak",
        severity=Severity.WARNING,
        confidence=0.92 if keepers else 0.85,
        title=f"{most} autograd graphs of earlier steps are still alive" + (f", held by {keepers}" if keepers else ""),
        **line_of(record.place),
        step=record.oldest,
        evidence=evidence,
        why="A tensor that is kept across iterations keeps the graph that made it, and with it that iteration's "
        "activations.",
        fix="keep loss.item() or loss.detach() instead; detach a state that is carried to the next batch",
    )


def _grows(points: Sequence[tuple[int, float]], min_graphs: int, min_growth: float) -> bool:
    """Whether, over some stretch of looks, nearly each step added a graph."""
    rising = [end for begin, end in pairwise(points) if end[1] - begin[1] >= min_growth * (end[0] - begin[0]) > 0]
    return any(count >= min_graphs for _, count in rising)


def _is_full(points: Sequence[tuple[int, float]]) -> bool:
    """Whether what keeps the graphs holds a fixed number of them: it has stopped growing, and is never emptied."""
    last = points[-FULL_LOOKS:]
    counts = [count for _, count in last]
    if len(last) < FULL_LOOKS or last[-1][0] - last[0][0] < FULL_STEPS:
        return False
    return min(counts) > 0 and max(counts) - min(counts) <= FULL_SPREAD
