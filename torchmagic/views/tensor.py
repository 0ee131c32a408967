"""This file is the page of one tensor: what it is, what is wrong with it, its numbers, bars and values."""

from collections.abc import Iterator

from torchmagic.analyses.counting import counted
from torchmagic.records.tensor import Histogram, Statistics, TensorRecord
from torchmagic.records.tensor_picture import Picture
from torchmagic.views.numbers import as_number, as_share
from torchmagic.views.page import Bars, Block, Code, Facts, Image, Line, Page, Plot, Text
from torchmagic.views.tensor_comparison import comparison_blocks
from torchmagic.views.tensor_facts import as_sizes, fact_rows

# From this share of all values in one bin on, counts are drawn by their logarithm.
_CROWDED = 0.9
_GROUPED = 10_000
# From this share of a half type's greatest number on, the next step may be infinite.
_CLOSE = 0.5


def tensor_page(record: TensorRecord) -> Page:
    """Tell one tensor: headline, warnings, facts, histogram, values, notes.

    Args:
        record: Facts about the tensor; what is None or empty in it is left out of the page.

    Returns:
        A page whose strong texts are exactly the warnings.
    """
    title = f"{record.name}: {record.kind}" if record.name else record.kind
    return Page(title=title, blocks=tuple(_blocks(record)))


def _blocks(record: TensorRecord) -> Iterator[Block]:
    yield Text(text=_headline(record))
    for warning in _warnings(record):
        yield Text(text=warning, strong=True)
    if record.comparison is not None:
        yield from comparison_blocks(record.comparison)
    if record.statistics is not None and record.statistics.num_values:
        yield Facts(rows=tuple(_rows(record.statistics, record.dtype)))
    if record.histogram is not None:
        yield _bars(record.histogram)
    if record.picture is not None:
        yield _picture(record.picture)
    yield Facts(rows=tuple(fact_rows(record)))
    if record.values:
        yield Code(text=record.values)
    for note in record.notes:
        yield Text(text=f"Note: {note}.")


def _picture(picture: Picture) -> Plot | Image:
    is_map = picture.kind == "levels" and picture.palette != "grey"
    if picture.kind != "line":
        return Image(title="Values" if is_map else "As images", picture=picture)
    line = Line(name="value", steps=picture.places, values=picture.values)
    return Plot(title=f"Values: {picture.told}", lines=(line,), x_label="element")


def _headline(record: TensorRecord) -> str:
    text = f"{record.dtype} {as_sizes(record.shape)} on {record.device}, {counted(record.num_elements, 'element')}"
    numbers = record.statistics
    if numbers is None or numbers.min is None or numbers.max is None:
        return text
    if record.dtype == "bool":
        true = numbers.num_values - numbers.num_zero
        return f"{text}, all {bool(true)}" if numbers.min == numbers.max else f"{text}, {true:,} of them True"
    if numbers.min == numbers.max:
        return f"{text}, all {'finite ones ' if numbers.num_nonfinite else ''}{_end(numbers.min)}"
    spread = "" if numbers.std is None else f" ± {as_number(numbers.std)}"
    of = "magnitudes " if record.dtype.startswith("complex") else ""
    return f"{text}, {of}{_end(numbers.min)} to {_end(numbers.max)}, mean {as_number(numbers.mean)}{spread}"


def _warnings(record: TensorRecord) -> Iterator[str]:
    numbers = record.statistics
    if numbers is not None and numbers.num_nonfinite:
        kinds = ((numbers.num_nan, "NaN"), (numbers.num_posinf, "+Inf"), (numbers.num_neginf, "-Inf"))
        told = ", ".join(f"{count:,} {kind}" for count, kind in kinds if count)
        share = as_share(numbers.num_nonfinite / numbers.num_values)
        where = ""
        if numbers.nonfinite_at:
            where = ", the first at " + ", ".join(str(list(index)) for index in numbers.nonfinite_at)
        yield f"Not finite: {told} of {counted(numbers.num_values, 'value')} ({share}){where}."
    for room in record.headroom:
        if room.is_own and room.dtype == "float16" and room.share > _CLOSE:
            share, greatest = as_share(room.share), as_number(room.greatest)
            yield f"Close to overflow: its largest magnitude is {share} of float16's greatest number, {greatest}."
    gradient = record.gradient
    if gradient is None:
        return
    if gradient.num_nonfinite:
        yield f"Its gradient is not finite: {counted(gradient.num_nonfinite, 'value')} NaN or infinite."
    if gradient.shape != record.shape:
        yield f"Its gradient has another shape: {as_sizes(gradient.shape)}."


def _rows(numbers: Statistics, dtype: str) -> Iterator[tuple[str, str]]:
    if dtype == "bool":
        for name, count in (("True", numbers.num_values - numbers.num_zero), ("False", numbers.num_zero)):
            yield name, f"{count:,} ({as_share(count / numbers.num_values)})"
        return
    # A complex number has a magnitude, which is not negative.
    signed = not dtype.startswith("complex")
    yield from (row for row in _value_rows(numbers) if signed or row[0] != "negative")


def _value_rows(numbers: Statistics) -> Iterator[tuple[str, str]]:
    if numbers.min is not None:
        yield "min · max", f"{_end(numbers.min)} · {_end(numbers.max)}"
        deviation = "needs two values" if numbers.std is None else as_number(numbers.std)
        yield "mean · std", f"{as_number(numbers.mean)} · {deviation}"
    if numbers.quantiles and numbers.min != numbers.max:
        mark = "≈ " if numbers.num_sampled else ""
        yield "quantiles", " · ".join(f"{100 * share:g}%: {mark}{as_number(at)}" for share, at in numbers.quantiles)
    if numbers.abs_max is not None:
        yield "largest magnitude", as_number(numbers.abs_max)
        yield "L2 norm", as_number(numbers.l2)
    yield "NaN · +Inf · -Inf", f"{numbers.num_nan:,} · {numbers.num_posinf:,} · {numbers.num_neginf:,}"
    yield "zero", f"{numbers.num_zero:,} ({as_share(numbers.num_zero / numbers.num_values)})"
    yield "negative", f"{numbers.num_negative:,} ({as_share(numbers.num_negative / numbers.num_values)})"
    if numbers.num_subnormal:
        share = as_share(numbers.num_subnormal / numbers.num_values)
        yield "subnormal", f"{numbers.num_subnormal:,} ({share}): nearer to zero than the least normal number"
    if numbers.num_distinct is not None:
        yield "distinct", f"{numbers.num_distinct:,}"


def _end(value: float | None) -> str:
    """Write the least or greatest value; of large whole numbers four digits would not tell one from the other."""
    return f"{value:,}" if isinstance(value, int) and abs(value) >= _GROUPED else as_number(value)


def _bars(histogram: Histogram) -> Bars:
    counted = f"a sample of {histogram.num_sampled:,} values" if histogram.num_sampled else "all finite values"
    by = ", bins by ratio" if histogram.by_ratio else ""
    # Of counts that nearly all lie in one bin the others could not be seen.
    total, filled = sum(histogram.counts), sum(count > 0 for count in histogram.counts)
    log = filled > 1 and max(histogram.counts) > _CROWDED * total
    return Bars(
        title=f"Histogram of {counted}{by}{', heights by logarithm' if log else ''}",
        edges=histogram.edges,
        counts=histogram.counts,
        by_ratio=histogram.by_ratio,
        log=log,
    )
