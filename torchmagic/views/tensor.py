"""This file is the page of one tensor: what it is, what is wrong with it, its numbers, bars and values."""

from collections.abc import Iterator

from torchmagic.records.tensor import GradientSummary, Histogram, Statistics, TensorRecord
from torchmagic.views.numbers import as_bytes, as_number, as_share
from torchmagic.views.page import Bars, Block, Code, Facts, Page, Text

_RAGGED = -1


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
    if record.statistics is not None and record.statistics.num_values:
        yield Facts(rows=tuple(_value_rows(record.statistics)))
    if record.histogram is not None:
        yield _bars(record.histogram)
    yield Facts(rows=tuple(_rows(record)))
    if record.values:
        yield Code(text=record.values)
    for note in record.notes:
        yield Text(text=f"Note: {note}.")


def _headline(record: TensorRecord) -> str:
    text = f"{record.dtype} {_shape(record.shape)} on {record.device}, {_counted(record.num_elements, 'element')}"
    numbers = record.statistics
    if numbers is None or numbers.min is None or numbers.max is None:
        return text
    if numbers.min == numbers.max:
        return f"{text}, all {'finite ones ' if numbers.num_nonfinite else ''}{as_number(numbers.min)}"
    spread = "" if numbers.std is None else f" ± {as_number(numbers.std)}"
    return f"{text}, {as_number(numbers.min)} to {as_number(numbers.max)}, mean {as_number(numbers.mean)}{spread}"


def _warnings(record: TensorRecord) -> Iterator[str]:
    numbers = record.statistics
    if numbers is not None and numbers.num_nonfinite:
        kinds = ((numbers.num_nan, "NaN"), (numbers.num_posinf, "+Inf"), (numbers.num_neginf, "-Inf"))
        told = ", ".join(f"{count:,} {kind}" for count, kind in kinds if count)
        share = as_share(numbers.num_nonfinite / numbers.num_values)
        where = ""
        if numbers.nonfinite_at:
            where = ", the first at " + ", ".join(str(list(index)) for index in numbers.nonfinite_at)
        yield f"Not finite: {told} of {_counted(numbers.num_values, 'value')} ({share}){where}."
    gradient = record.gradient
    if gradient is None:
        return
    if gradient.num_nonfinite:
        yield f"Its gradient is not finite: {_counted(gradient.num_nonfinite, 'value')} NaN or infinite."
    if gradient.shape != record.shape:
        yield f"Its gradient has another shape: {_shape(gradient.shape)}."


def _value_rows(numbers: Statistics) -> Iterator[tuple[str, str]]:
    if numbers.min is not None:
        yield "min · max", f"{as_number(numbers.min)} · {as_number(numbers.max)}"
        deviation = "needs two values" if numbers.std is None else as_number(numbers.std)
        yield "mean · std", f"{as_number(numbers.mean)} · {deviation}"
    if numbers.quantiles:
        mark = "≈ " if numbers.num_sampled else ""
        yield "quantiles", " · ".join(f"{100 * share:g} %: {mark}{as_number(at)}" for share, at in numbers.quantiles)
    if numbers.abs_max is not None:
        yield "largest magnitude", as_number(numbers.abs_max)
        yield "L2 norm", as_number(numbers.l2)
    yield "NaN · +Inf · -Inf", f"{numbers.num_nan:,} · {numbers.num_posinf:,} · {numbers.num_neginf:,}"
    yield "zero", f"{numbers.num_zero:,} ({as_share(numbers.num_zero / numbers.num_values)})"
    yield "negative", f"{numbers.num_negative:,} ({as_share(numbers.num_negative / numbers.num_values)})"
    if numbers.num_distinct is not None:
        yield "distinct", f"{numbers.num_distinct:,}"


def _bars(histogram: Histogram) -> Bars:
    counted = f"a sample of {histogram.num_sampled:,} values" if histogram.num_sampled else "all finite values"
    return Bars(title=f"Histogram of {counted}", edges=histogram.edges, counts=histogram.counts)


def _rows(record: TensorRecord) -> Iterator[tuple[str, str]]:
    yield "shape", f"{_shape(record.shape)}, {_counted(record.num_elements, 'element')}"
    yield "dtype", record.dtype
    yield "device", record.device + (" (pinned)" if record.is_pinned else "")
    yield "layout", _layout(record)
    yield "memory", _memory(record)
    yield "autograd", _autograd(record)
    if record.gradient is not None:
        yield "gradient", _gradient(record.gradient)


def _layout(record: TensorRecord) -> str:
    parts = [record.layout]
    if record.strides:
        parts.append(f"strides {list(record.strides)}")
    if record.memory_format:
        parts.append(record.memory_format.replace("_", " "))
    return ", ".join(parts)


def _memory(record: TensorRecord) -> str:
    text = as_bytes(record.num_bytes)
    if record.is_view:
        text += ", a view"
    if record.storage_bytes is None or (record.storage_bytes == record.num_bytes and not record.storage_offset):
        return text
    offset = f", from element {record.storage_offset:,} on" if record.storage_offset else ""
    return f"{text}, in a block of {as_bytes(record.storage_bytes)}{offset}"


def _autograd(record: TensorRecord) -> str:
    parts = ["requires grad" if record.requires_grad else "no grad"]
    parts.append(f"made by {record.grad_fn}" if record.grad_fn else "leaf" if record.is_leaf else "not a leaf")
    if record.version is None:
        parts.append("inference tensor")
    elif record.version:
        parts.append(f"changed in place {_counted(record.version, 'time')}")
    return ", ".join(parts)


def _gradient(gradient: GradientSummary) -> str:
    if gradient.norm is None:
        return f"{gradient.dtype} {_shape(gradient.shape)}, no finite value"
    return f"{gradient.dtype}, L2 norm {as_number(gradient.norm)}, largest magnitude {as_number(gradient.abs_max)}"


def _shape(shape: tuple[int, ...]) -> str:
    return "[" + ", ".join("ragged" if size == _RAGGED else str(size) for size in shape) + "]"


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
