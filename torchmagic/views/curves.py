"""This file is the view of a run's curves: loss, gradient norm."""

import math
from collections.abc import Sequence

from torchmagic.session.run import Run
from torchmagic.views.page import Block, Line, Page, Plot, Text

# A curve that spans more than this factor is read on a logarithmic axis.
WIDE = 100.0


def curves_page(run: Run) -> Page:
    """Return the loss of each backward line and the total gradient norm, over optimizer steps."""
    losses = [_line(run, "loss", name) for name in run.subjects("loss")]
    norms = [
        Line(name="total", steps=steps, values=values) for steps, values in [run.series("grad_norm", name="")] if steps
    ]
    clipped = run.series("grad_norm_before_clip")
    if clipped[0]:
        norms.append(Line(name="before clipping", steps=clipped[0], values=clipped[1]))
    blocks: list[Block] = [
        Plot(title=title, lines=lines, log=_is_wide(lines))
        for title, lines in (("loss", losses), ("gradient norm", norms))
        if lines
    ]
    return Page(title="Curves", blocks=blocks or [Text(text="No backward pass ran, so there is no curve.")])


def _line(run: Run, metric: str, name: str) -> Line:
    steps, values = run.series(metric, name=name)
    return Line(name=name, steps=steps, values=values)


def _is_wide(lines: Sequence[Line]) -> bool:
    values = [value for line in lines for value in line.values if math.isfinite(value)]
    return bool(values) and min(values) > 0 and max(values) > WIDE * min(values)
