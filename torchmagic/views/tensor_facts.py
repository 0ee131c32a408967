"""This file is the facts of one tensor's page: what it is, where it lies, and what it has to do with others."""

from collections.abc import Iterator

from torchmagic.analyses.counting import counted
from torchmagic.records.tensor import GradientSummary, TensorRecord
from torchmagic.records.tensor_relations import GraphNode, Headroom, Relations
from torchmagic.views.numbers import as_bytes, as_number, as_share

_RAGGED = -1
# Of a wide dtype nobody asks for the room below a thousandth.
_WIDE, _WORTH_TELLING = ("float32", "float64"), 1e-3


def fact_rows(record: TensorRecord) -> Iterator[tuple[str, str]]:
    """Yield names and values of what a tensor is apart from its values."""
    yield "shape", f"{as_sizes(record.shape, record.dims)}, {counted(record.num_elements, 'element')}"
    yield "dtype", record.dtype
    yield "device", record.device + (" (pinned)" if record.is_pinned else "")
    yield "layout", _layout(record)
    yield "memory", _memory(record)
    yield "autograd", _autograd(record)
    if record.graph:
        yield "made by", " ← ".join(_node(node) for node in record.graph)
    if record.gradient is not None:
        yield "gradient", _gradient(record.gradient)
    for room in record.headroom:
        if room.share > _WORTH_TELLING or room.dtype not in _WIDE:
            yield f"room in {room.dtype}" if room.is_own else f"as {room.dtype}", _headroom(room)
    if record.relations is not None:
        yield from _relation_rows(record.relations)


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
        parts.append(f"changed in place {counted(record.version, 'time')}")
    return ", ".join(parts)


def _gradient(gradient: GradientSummary) -> str:
    if gradient.norm is None:
        return f"{gradient.dtype} {as_sizes(gradient.shape)}, no finite value"
    return f"{gradient.dtype}, L2 norm {as_number(gradient.norm)}, largest magnitude {as_number(gradient.abs_max)}"


def as_sizes(shape: tuple[int, ...], dims: tuple[str, ...] = ()) -> str:
    """Write sizes in brackets, behind the names of their dimensions where they have some."""
    if dims:
        return "[" + ", ".join(f"{name} {_size(size)}".strip() for name, size in zip(dims, shape, strict=True)) + "]"
    return "[" + ", ".join(_size(size) for size in shape) + "]"


def _size(size: int) -> str:
    return "ragged" if size == _RAGGED else str(size)


def _node(node: GraphNode) -> str:
    took = ", ".join(node.inputs)
    where = f" in {node.module}" if node.module else ""
    return f"{node.name}{where}{f' ({took})' if took else ''}"


def _headroom(room: Headroom) -> str:
    greatest = as_number(room.greatest)
    if room.share > 1:
        return f"would overflow: the greatest number is {greatest}"
    return f"fits: largest magnitude is {as_share(room.share)} of the greatest number, {greatest}"


def _relation_rows(relations: Relations) -> Iterator[tuple[str, str]]:
    if relations.names:
        yield "also known as", ", ".join(relations.names)
    if relations.base:
        yield "a view of", relations.base
    if relations.shared:
        yield "shares memory with", ", ".join(relations.shared)
    if relations.holders:
        yield "kept alive by", ", ".join(relations.holders)
