"""This file is curves that stand on each other, and what is marked on their axis of steps, on matplotlib's axes."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from torchmagic.views.page import Line, Plot
from torchmagic.views.skins.palette import EDGE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Of more steps some last for a pixel, which an edge in another colour would hide.
FEW_STEPS = 60


def draw_stack(axes: "Axes", lines: Sequence[Line], *, names: Sequence[str], colours: Sequence[str]) -> None:
    """Draw each line standing on those before it; what is not finite counts nothing."""
    steps = list(lines[0].steps) if lines else []
    values = [[value if math.isfinite(value) else 0.0 for value in line.values] for line in lines]
    if steps and all(len(each) == len(steps) for each in values):
        used = [colours[index % len(colours)] for index in range(len(lines))]
        areas = axes.stackplot(steps, values, labels=names, colors=used, edgecolor=EDGE, linewidth=0.6)
        for area in areas if len(steps) > FEW_STEPS else ():
            area.set(edgecolor=area.get_facecolor(), linewidth=0.3)
        axes.set_ylim(bottom=0)
        axes.margins(x=0)


def draw_marks(axes: "Axes", plot: Plot, *, colour: str, size: float) -> None:
    """Draw a line at each place that is marked, with its word at the upper end."""
    up = axes.get_xaxis_transform()
    for step, word in plot.marks:
        if math.isfinite(step):
            axes.axvline(step, color=colour, linewidth=0.8, linestyle=(0, (3, 3)))
            axes.text(
                step, 0.98, f" {word}", transform=up, va="top", ha="left", color=colour, fontsize=size, clip_on=True
            )
