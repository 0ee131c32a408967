"""This file is the matplotlib skin: plots and histograms as figures and PNG bytes, beside the user's own figures."""

import io
import math
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from torchmagic.session.ignored_warnings import ignored_warnings, uncounted_changes
from torchmagic.views.numbers import as_count, as_number
from torchmagic.views.page import Bars, Flame, Line, Page, Plot
from torchmagic.views.skins.far_values import bars_in, plot_in, unit_for, write_ticks
from torchmagic.views.skins.few_colours import of_few_colours
from torchmagic.views.skins.icicle import draw_icicle, icicle_height
from torchmagic.views.skins.line_summary import is_of_integers
from torchmagic.views.skins.palette import COLOURS, NOT_FINITE, look
from torchmagic.views.skins.stack import draw_marks, draw_stack
from torchmagic.views.skins.text_table import printable, shortened
from torchmagic.views.skins.unlogged import unlogged

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# An axis spans at least this share of its values: four digits tell its ticks apart.
LEAST_SPAN = 0.01
Drawn = Plot | Bars | Flame

_GREY = "#7a7a7a"
_WIDTH, _HEIGHT, _DPI = 6.4, 2.1, 144
_GRID_HEIGHT = 4.0
_SMALL = 8.0
# A row of the legend (inches), the letters that fit into its width, and what the sign before a name takes of them.
_ROW, _LETTERS, _HANDLE = 0.17, 96, 10
_LONGEST = 60


@unlogged()
def as_figure(page: Page) -> "Figure":
    """Return the plots, histograms and flames of a page as one figure, one below the other.

    The figure belongs to no backend and is not known to ``pyplot``; the user's settings and figures stay as they are.

    Args:
        page: Any page; other blocks are left out.
    """
    return _figure([block for block in page.blocks if isinstance(block, Drawn)])


@unlogged()
def as_png(block: Drawn, *, dpi: float = _DPI) -> bytes:
    """Return a plot, histogram or flame as PNG bytes with a transparent ground, readable on white and on dark.

    Args:
        block: What to draw; it may be empty, and values may be NaN or infinite.
        dpi: Pixels an inch; the picture is 6.4 inches wide.
    """
    figure = _figure([block], dpi=dpi)
    canvas: Any = figure.canvas
    with ignored_warnings():
        # a name in a script that the bundled font lacks is drawn as boxes; the alternative text still says it
        canvas.draw()  # once: saving would lay everything out, and draw it again
    return of_few_colours(canvas.get_width_height(), canvas.buffer_rgba())


@unlogged()
def as_grid_png(blocks: Sequence[Drawn], *, title: str, num_columns: int = 2, dpi: float = _DPI) -> bytes:
    """Return plots side by side as one PNG picture on white, each under its title.

    Args:
        blocks: What to draw, row by row.
        title: Title of the whole.
        num_columns: Plots in a row.
        dpi: Pixels an inch; each plot is 6.4 by 4 inches.
    """
    num_rows = -(-len(blocks) // num_columns)
    size = _WIDTH * num_columns, _GRID_HEIGHT * num_rows
    figure = _ground(figsize=size, dpi=dpi, layout="constrained", facecolor="white")
    figure.suptitle(title, fontsize=2 * _SMALL)
    for index, block in enumerate(blocks, start=1):
        axes = figure.add_subplot(num_rows, num_columns, index)
        _draw(axes, block)
        axes.set_title(block.title, fontsize=1.4 * _SMALL, pad=24)
    _as_it_stands(figure)
    buffer = io.BytesIO()
    with ignored_warnings():  # as in ``as_png``
        figure.savefig(buffer, format="png", metadata={"Software": None})
    return buffer.getvalue()


def _figure(blocks: Sequence[Drawn], *, dpi: float = _DPI) -> "Figure":
    heights = [_height(block) for block in blocks]
    figure = _ground(figsize=(_WIDTH, sum(heights) or _HEIGHT), dpi=dpi, layout="constrained", frameon=False)
    grid = figure.add_gridspec(max(1, len(blocks)), 1, height_ratios=heights or None)
    for index, block in enumerate(blocks):
        _draw(figure.add_subplot(grid[index]), block)
    _as_it_stands(figure)
    return figure


def _ground(**how: Any) -> "Figure":
    with uncounted_changes():
        from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415 - loaded when something is drawn
        from matplotlib.figure import Figure  # noqa: PLC0415 - loaded when something is drawn
    figure = Figure(**how)
    FigureCanvasAgg(figure)
    return figure


def _draw(axes: "Axes", block: Drawn) -> None:
    _dress(axes)
    if isinstance(block, Plot):
        _draw_plot(axes, block)
    elif isinstance(block, Flame):
        draw_icicle(axes, block, colour=COLOURS[1], ink=_GREY, size=_SMALL)
    else:
        _draw_bars(axes, block)


def _as_it_stands(figure: "Figure") -> None:
    from matplotlib.text import Text  # noqa: PLC0415 - loaded when something is drawn

    for text in (artist for artist in figure.findobj() if isinstance(artist, Text)):
        text.set_text(printable(text.get_text()))  # half a surrogate pair cannot be drawn
        text.set_parse_math(False)  # a dollar sign or underscore in a name is no formula
        text.set_usetex(False)
        text.set_fontfamily("DejaVu Sans")


def _dress(axes: "Axes") -> None:
    axes.set_facecolor("none")
    axes.grid(visible=True, axis="y", color=_GREY, alpha=0.25, linewidth=0.6, linestyle="-")
    axes.set_axisbelow(True)
    axes.tick_params(colors=_GREY, labelsize=_SMALL, width=0.6, length=3, direction="out", which="both")
    for side, spine in axes.spines.items():
        spine.set_visible(side == "bottom")
        spine.set_color(_GREY)
        spine.set_linewidth(0.6)


def _draw_plot(axes: "Axes", plot: Plot) -> None:
    unit = unit_for([value for line in plot.lines for value in line.values])
    plot = plot_in(unit, plot)
    finite = [value for line in plot.lines for value in line.values if math.isfinite(value)]
    if plot.log and any(value > 0 for value in finite):
        axes.set_yscale("log", nonpositive="mask")
        axes.minorticks_off()  # over many decades they are a bar
    else:
        axes.locator_params(axis="y", nbins=4, min_n_ticks=3)
        _widen(axes, [] if plot.stacked else finite)
    for index, line in enumerate([] if plot.stacked else plot.lines):
        _draw_line(axes, line, *look(index))
    if plot.stacked:
        draw_stack(axes, plot.lines, names=[_label(line.name) for line in plot.lines], colours=COLOURS)
    draw_marks(axes, plot, colour=NOT_FINITE, size=_SMALL)
    axes.set_xlabel(shortened(plot.x_label, _LONGEST), color=_GREY, fontsize=_SMALL)
    axes.set_ylabel(shortened(plot.y_label, _LONGEST), color=_GREY, fontsize=_SMALL)
    axes.locator_params(axis="x", nbins=6, integer=True)
    axes.xaxis.set_major_formatter(lambda x, _: as_number(float(x)))
    write_ticks(axes.yaxis, unit, finite)
    if not finite:
        _say(axes, "no finite values" if any(len(line.values) for line in plot.lines) else "no values yet")
    if axes.get_legend_handles_labels()[0]:
        columns, length = _legend_columns(plot), 1.4 if plot.stacked else 2.6  # a dash takes more than a patch
        above = axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=columns, frameon=False, handlelength=length)
        for text in above.get_texts():
            text.set(color=_GREY, fontsize=_SMALL)


def _widen(axes: "Axes", finite: Sequence[float]) -> None:
    """Keep values that hardly differ from filling the axis, where all ticks would read alike."""
    if finite:
        low, high = min(finite), max(finite)
        least = LEAST_SPAN * max(abs(low), abs(high))
        if least > 0 and high - low < least:
            middle = (low + high) / 2
            axes.set_ylim(middle - least, middle + least)


def _draw_line(axes: "Axes", line: Line, colour: str, dash: Sequence[float]) -> None:
    values = [value if math.isfinite(value) else math.nan for value in line.values]
    steps = list(line.steps)[: len(values)]
    values = values[: len(steps)]
    alone = sum(not math.isnan(value) for value in values) <= 1
    marker = "o" if alone else "None"
    style = (0, dash) if dash else "-"
    lost = [math.isnan(value) for value in values]
    label = f"{line.name}, not finite from {as_number(steps[lost.index(True)])}" if any(lost) else line.name
    axes.plot(
        steps, values, color=colour, linewidth=1.4, linestyle=style, marker=marker, markersize=4, label=_label(label)
    )
    if any(lost):
        _shade(axes, steps, lost)


def _label(name: str) -> str:
    name = shortened(name, _LONGEST)
    return f"\u200b{name}" if name.startswith("_") else name  # matplotlib leaves out what begins with "_"


def _legend_columns(plot: Plot) -> int:
    """Return how many names fit beside each other; a legend wider than the picture would squeeze the axes."""
    longest = max((min(len(line.name), _LONGEST) for line in plot.lines), default=0)
    return max(1, min(5 if plot.stacked else 4, len(plot.lines), _LETTERS // (longest + _HANDLE)))


def _height(block: Drawn) -> float:
    if isinstance(block, Flame):
        return icicle_height(block)
    rows = max(1, -(-len(block.lines) // _legend_columns(block))) if isinstance(block, Plot) else 1
    return _HEIGHT + _ROW * (rows - 1)


def _shade(axes: "Axes", steps: Sequence[float], lost: Sequence[bool]) -> None:
    """Shade where values are not finite; a line at the start of each stretch shows also a single one."""
    starts = [step for i, step in enumerate(steps) if lost[i] and not (i and lost[i - 1])]
    up = axes.get_xaxis_transform()
    axes.fill_between(steps, 0, 1, where=lost, transform=up, color=NOT_FINITE, alpha=0.16, linewidth=0)
    axes.vlines(starts, 0, 1, transform=up, color=NOT_FINITE, alpha=0.5, linewidth=1)


def _draw_bars(axes: "Axes", bars: Bars) -> None:
    unit = unit_for(bars.edges)
    bars = bars_in(unit, bars)
    if bars.by_ratio:
        axes.set_xscale("log")
    if bars.log:
        axes.set_yscale("log")
    else:
        axes.locator_params(axis="y", nbins=4, integer=True)
    if is_of_integers(bars) and not bars.by_ratio:
        axes.locator_params(axis="x", integer=True)
    axes.yaxis.set_major_formatter(lambda y, _: as_count(float(y)))
    write_ticks(axes.xaxis, unit, bars.edges)
    edges = list(bars.edges)
    if not any(bars.counts) or len(edges) != len(bars.counts) + 1 or not all(map(math.isfinite, edges)):
        _say(axes, "no values yet")
        return
    widths = [right - left for left, right in pairwise(edges)]
    axes.bar(edges[:-1], bars.counts, width=widths, align="edge", color=COLOURS[0], alpha=0.9, linewidth=0)


def _say(axes: "Axes", words: str) -> None:
    axes.text(0.5, 0.5, words, transform=axes.transAxes, ha="center", va="center", color=_GREY, fontsize=_SMALL + 1)
    axes.set_yticks([])
