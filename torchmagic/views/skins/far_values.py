"""This file is numbers near the greatest that there are, drawn in a larger unit: an axis reaches beyond its values."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from torchmagic.views.numbers import as_number
from torchmagic.views.page import Bars, Plot

if TYPE_CHECKING:
    from matplotlib.axis import Axis

# From here on axes that span values of both signs, or leave a margin, overflow; in the larger unit none does.
_FAR, _UNIT = 1e300, 1e6
# An axis by ratio begins at no less: in the larger unit the least numbers would be zero.
_LEAST = 1e-307
_TICKS = 5


def unit_for(numbers: Sequence[float]) -> float:
    """Return the unit in which an axis for these numbers is drawn: 1 but for the greatest of all."""
    return _UNIT if any(abs(number) > _FAR for number in numbers if math.isfinite(number)) else 1.0


def plot_in(unit: float, plot: Plot) -> Plot:
    """Return a plot with its values in a unit."""
    if unit == 1.0:
        return plot
    return replace(
        plot, lines=tuple(replace(line, values=[each / unit for each in line.values]) for line in plot.lines)
    )


def bars_in(unit: float, bars: Bars) -> Bars:
    """Return a histogram with its edges in a unit."""
    if unit == 1.0:
        return bars
    edges = [edge / unit for edge in bars.edges]
    return replace(bars, edges=[max(edge, _LEAST) for edge in edges] if bars.by_ratio else edges)


def write_ticks(axis: "Axis", unit: float, numbers: Sequence[float]) -> None:
    """Have an axis say its numbers, which are in a unit, as they are; what no float can hold stays unsaid."""
    axis.set_major_formatter(lambda number, _: as_number(float(number) * unit).removesuffix("inf").removesuffix("-"))
    if unit != 1.0 and axis.get_scale() == "log":
        axes = axis.axes
        axes.margins(x=0) if axis is axes.xaxis else axes.margins(y=0)
        axis.set_ticks(_powers([number for number in numbers if 0 < number < math.inf]))


def _powers(numbers: Sequence[float]) -> list[float]:
    """Return a few powers of ten between numbers above zero: matplotlib looks for some beyond them."""
    first, last = math.floor(math.log10(min(numbers))), math.floor(math.log10(max(numbers)))
    return [10.0**power for power in range(first, last + 1, max(1, (last - first) // _TICKS))]
