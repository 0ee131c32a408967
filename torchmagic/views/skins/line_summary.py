"""This file is a curve in words and small characters, for skins that cannot draw it and for those who cannot see it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from torchmagic.views.numbers import as_number
from torchmagic.views.page import Bars, Line, Plot, Trend

_LEVELS = "▁▂▃▄▅▆▇█"
_NOT_FINITE = "x"
_TREND = 12
_NO_POWER = -320.0  # below the logarithm of the least float, for values from zero down


@dataclass(frozen=True, slots=True, kw_only=True)
class LineSummary:
    """Where a curve starts, ends and turns; all None where it has no finite value.

    Args:
        first: First finite value.
        last: Last finite value.
        low: Least finite value.
        high: Greatest finite value.
        num_not_finite: How many values are NaN or infinite.
        first_not_finite: Step of the first of them.
    """

    first: float | None
    last: float | None
    low: float | None
    high: float | None
    num_not_finite: int
    first_not_finite: float | None


def line_summary(line: Line) -> LineSummary:
    """Summarise a curve."""
    finite = [value for value in line.values if math.isfinite(value)]
    bad = [step for step, value in zip(line.steps, line.values, strict=False) if not math.isfinite(value)]
    return LineSummary(
        first=finite[0] if finite else None,
        last=finite[-1] if finite else None,
        low=min(finite, default=None),
        high=max(finite, default=None),
        num_not_finite=len(bad),
        first_not_finite=bad[0] if bad else None,
    )


def line_sentence(line: Line, *, x_label: str = "step") -> str:
    """Say a curve in one clause: from first to last, with its range and what of it is not finite."""
    found = line_summary(line)
    lost = ""
    if found.num_not_finite and found.first_not_finite is not None:
        lost = f"{found.num_not_finite} not finite, from {x_label} {as_number(found.first_not_finite)}"
    if found.first is None:
        return lost or "no values"
    said = f"{as_number(found.first)} → {as_number(found.last)}"
    if len(line.values) > 1:
        said += f", min {as_number(found.low)}, max {as_number(found.high)}"
    return f"{said}, {lost}" if lost else said


def trend_drawing(trend: Trend) -> str:
    """Draw the curve of a table's cell in small characters."""
    return sparkline(trend.values, width=_TREND, log=trend.log)


def trend_sentence(trend: Trend) -> str:
    """Say the curve of a table's cell in one clause."""
    return line_sentence(Line(name="", steps=range(len(trend.values)), values=trend.values), x_label="value")


def alternative_text(block: Plot | Bars) -> str:
    """Say a whole plot or histogram in a sentence, as the alternative text of its image."""
    if isinstance(block, Bars):
        return f"Histogram {block.title}: {bars_sentence(block)}."
    curves = "; ".join(f"{line.name} {line_sentence(line, x_label=block.x_label)}" for line in block.lines)
    marked = f"; marked: {marks_sentence(block)}" if block.marks else ""
    return f"Plot {block.title} over {block.x_label}: {curves or 'no values'}{marked}."


def marks_sentence(plot: Plot) -> str:
    """Say what is marked on the axis of steps."""
    return ", ".join(f"{plot.x_label} {as_number(step)} {word}".rstrip() for step, word in plot.marks)


def bars_sentence(bars: Bars) -> str:
    """Say a histogram in one clause: how many values, between which edges, and where most are."""
    total = sum(bars.counts)
    if not total or len(bars.edges) != len(bars.counts) + 1:
        return "no values"
    top = max(range(len(bars.counts)), key=bars.counts.__getitem__)
    most = f"most ({bars.counts[top]:,})"
    if is_of_integers(bars):
        first, last, at = (f"{round(edge + 0.5):,}" for edge in (bars.edges[0], bars.edges[-2], bars.edges[top]))
        return f"{total:,} values from {first} to {last}, {most} at {at}"
    low, high = (as_number(edge) for edge in bars.edges[top : top + 2])
    first, last = as_number(bars.edges[0]), as_number(bars.edges[-1])
    return f"{total:,} values from {first} to {last}, {most} between {low} and {high}"


def is_of_integers(bars: Bars) -> bool:
    """Whether each bin is that of one whole number, at its middle."""
    if not bars.edges:
        return False
    spans = zip(bars.edges, bars.edges[1:], strict=False)
    return (bars.edges[0] + 0.5).is_integer() and all(math.isclose(high - low, 1.0) for low, high in spans)


def sparkline(values: Sequence[float], *, width: int = 40, log: bool = False) -> str:
    """Draw values in one row of block characters; ``x`` stands where a value is not finite.

    Args:
        values: Values in order.
        width: Most characters to use.
        log: Whether heights follow the logarithm; values from zero down then stand at the bottom.

    Examples:
        >>> sparkline([1, 2, 4, 8]), sparkline([1, 2, 4, 8], log=True), sparkline([1.0, float("nan")])
        ('▁▂▄█', '▁▃▆█', '▄x')
    """
    cells = _cells(values, width)
    heights = [_height(value, log=log) for value in cells]
    finite = [height for height in heights if height is not None]
    if not finite:
        return _NOT_FINITE * len(cells)
    low, high = min(finite), max(finite)
    return "".join(_character(height, low, high) for height in heights)


def _cells(values: Sequence[float], width: int) -> list[float]:
    if len(values) <= width:
        return list(values)
    edges = [round(i * len(values) / width) for i in range(width + 1)]
    buckets = [values[start:end] for start, end in pairwise(edges)]
    # one value that is not finite is worth more than the mean of its neighbours
    return [_mean(bucket) if all(map(math.isfinite, bucket)) else math.nan for bucket in buckets]


def _mean(values: Sequence[float]) -> float:
    total = sum(values)
    return total / len(values) if math.isfinite(total) else sum(value / len(values) for value in values)


def _height(value: float, *, log: bool) -> float | None:
    if not math.isfinite(value):
        return None
    if not log:
        return value
    return math.log10(value) if value > 0 else _NO_POWER


def _character(height: float | None, low: float, high: float) -> str:
    if height is None:
        return _NOT_FINITE
    if high == low:
        return _LEVELS[len(_LEVELS) // 2 - 1]
    if math.isinf(high - low):
        height, low, high = height / 2, low / 2, high / 2
    return _LEVELS[round((height - low) / (high - low) * (len(_LEVELS) - 1))]
