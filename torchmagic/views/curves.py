"""This file is the view of a run's curves: training and evaluation loss, gradient norm, learning rate."""

import math
from collections.abc import Sequence

from torchmagic.records.model import OptimizerRecord
from torchmagic.session.run import Run
from torchmagic.views.evaluation import evaluation_blocks, evaluation_lines
from torchmagic.views.page import Block, Line, Page, Plot
from torchmagic.views.schedule import schedule_blocks

# Lines of a figure that can be told apart.
MOST_APART = 8
# A curve that spans more than this factor is read on a logarithmic axis.
WIDE = 100.0


def curves_page(run: Run) -> Page:
    """Return losses, the total gradient norm and learning rates, over optimizer steps; what was evaluated, and how."""
    losses = [_line(run, "loss", name) for name in run.subjects("loss")] + evaluation_lines(run)
    norms = _norms(run)
    clipped = run.series("grad_norm_before_clip")
    if clipped[0]:
        norms.append(Line(name="before clipping", steps=clipped[0], values=clipped[1]))
    blocks: list[Block] = [
        Plot(title=title, lines=lines, log=is_wide(lines))
        for title, lines in (("loss", losses), ("gradient norm", norms))
        if lines
    ]
    return Page(title="Curves", blocks=[*blocks, *schedule_blocks(run), *evaluation_blocks(run)])


def is_wide(lines: Sequence[Line]) -> bool:
    """Return whether curves are all above zero and span so much that they are read on a logarithmic axis."""
    values = [value for line in lines for value in line.values if math.isfinite(value)]
    return bool(values) and min(values) > 0 and max(values) > WIDE * min(values)


def _norms(run: Run) -> list[Line]:
    """Return the total gradient norm: one line, or, where optimizers step by turns, one of each."""
    apart = set(run.subjects("optimizer_grad_norm"))
    named = dict.fromkeys(record.name for record in run.of(OptimizerRecord) if record.name in apart)
    each = [_line(run, "optimizer_grad_norm", name) for name in named]
    steps, values = run.series("grad_norm", name="")
    if 1 < len(each) <= MOST_APART:
        return each
    return [Line(name="total", steps=steps, values=values)] if steps else []


def _line(run: Run, metric: str, name: str) -> Line:
    steps, values = run.series(metric, name=name)
    return Line(name=name, steps=steps, values=values)
