"""This file is the description of one tensor: metadata, statistics, values and gradient in one record."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch

from torchmagic.records.tensor import GradientSummary, Statistics, TensorRecord
from torchmagic.records.tensor_relations import Comparison
from torchmagic.tensors.compare import compare
from torchmagic.tensors.graph import graph_of
from torchmagic.tensors.headroom import headroom
from torchmagic.tensors.layout import metadata
from torchmagic.tensors.measure import measure
from torchmagic.tensors.near import brought_near
from torchmagic.tensors.picture import picture_of
from torchmagic.tensors.preview import preview
from torchmagic.tensors.reduce import UNREADABLE_ERRORS
from torchmagic.tensors.relations import named_tensors, relations_of
from torchmagic.tensors.scan import EXACT
from torchmagic.tensors.sources import StoredValues, as_tensor, dense_values, stored_values


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What is wanted beyond the usual.

    Args:
        other: What to compare with, of the same shape; None for nothing.
        other_name: What it is called.
        hist: Whether the histogram counts all values, however many.
        image: Whether the tensor is taken for images; None asks its shape.
        full: Whether quantiles, histogram and holders are looked for however long it takes.
        dims: Names of the dimensions, in order.
        names: The user's variables, to say who shares the memory; None looks for nothing.
    """

    other: Any = None
    other_name: str = "the other one"
    hist: bool = False
    image: bool | None = None
    full: bool = False
    dims: tuple[str, ...] = ()
    names: Mapping[str, Any] | None = None


def describe(tensor: Any, *, name: str = "", asked: Asked | None = None) -> TensorRecord:
    """Describe a tensor without changing or holding it, its gradient, or any random number stream.

    Args:
        tensor: A tensor of any kind, a parameter, a NumPy array or a NumPy number.
        name: What the user calls it.
        asked: What is wanted beyond the usual.

    Returns:
        The record. What this kind of tensor cannot tell is left out, and a note says why.

    Raises:
        TypeError: If it is something else; one line says what came, what was wanted and what to do.
        ValueError: If it was not made yet, what it is compared with has another shape or cannot be read, or ``dims``
            are not as many as its dimensions.

    Example:
        >>> record = describe(torch.arange(4), name="x")
        >>> record.shape, record.dtype, record.statistics.max
        ((4,), 'int64', 3)
    """
    asked = asked or Asked()
    source, notes = as_tensor(tensor)
    # A subclass may give the operators a meaning of its own, or raise; it is asked in torch's.
    with torch._C.DisableTorchFunctionSubclass():  # noqa: SLF001 - documented under this name
        record = _related(metadata(source, name=name, kind=type(tensor).__name__), source, asked)
        if asked.other is not None:
            record = replace(record, comparison=_comparison(source, asked))
        try:
            stored = stored_values(source)
            record = replace(record, notes=notes + stored.notes)
            return replace(record, gradient=_gradient(source), **_of_values(record, stored, asked))
        except UNREADABLE_ERRORS as error:
            return replace(record, notes=(*record.notes, f"its values cannot be read: {_first_line(error)}"))


def _related(record: TensorRecord, source: torch.Tensor, asked: Asked) -> TensorRecord:
    dims = asked.dims or tuple(name or "" for name in getattr(source, "names", ()))  # gone from torch 2.13 on
    if asked.dims and len(dims) != source.dim():
        raise ValueError(f"{len(dims)} names of dimensions came, {source.dim()} were wanted for {list(record.shape)}")
    known = list(named_tensors(asked.names)) if asked.names is not None else []
    graph = graph_of(source, {id(each): name for name, each in known})
    told: dict[str, Any] = {"dims": dims if any(dims) else (), "graph": graph}
    if asked.names is not None or asked.full:
        told["relations"] = relations_of(source, known, expression=record.name, search=asked.full)
    return replace(record, **told)


def _comparison(source: torch.Tensor, asked: Asked) -> Comparison:
    other, _ = as_tensor(asked.other)
    try:
        return compare(dense_values(source), dense_values(other), name=asked.other_name)
    except UNREADABLE_ERRORS as error:
        raise ValueError(f"values that cannot be read cannot be compared: {_first_line(error)}") from error


def _of_values(record: TensorRecord, stored: StoredValues, asked: Asked) -> dict[str, Any]:
    """The fields of a record that come from the values."""
    values = stored.values
    if values is None:
        return {}
    values = brought_near(values)
    statistics, histogram = measure(values, repeat=stored.repeat, full=asked.full, hist=asked.hist)
    text = preview(values)
    dims = record.dims if stored.placed else ()
    picture = picture_of(values, dims=dims, as_image=asked.image)
    if not stored.placed:
        statistics = replace(statistics, nonfinite_at=())
    return {
        "statistics": statistics,
        "histogram": histogram,
        "headroom": headroom(values.dtype, statistics.abs_max),
        "picture": picture,
        "values": text,
        "notes": record.notes + _numbers_notes(values, statistics),
    }


def _numbers_notes(values: torch.Tensor, statistics: Statistics) -> tuple[str, ...]:
    notes = []
    if values.is_complex():
        notes.append("complex: statistics are of the magnitudes")
    if values.dtype == torch.uint64:
        notes.append("uint64: statistics are of the values as float64, exact up to 2**53")
    if values.dtype == torch.int64 and (statistics.abs_max or 0) > EXACT:
        notes.append("beyond 2**53: mean, quantiles and histogram are as float64, which rounds such numbers")
    if statistics.num_sampled:
        notes.append(
            f"quantiles are from a sample of {statistics.num_sampled:,} values; the share below each is "
            "off by less than 0.8 points, 19 times in 20"
        )
    return tuple(notes)


def _gradient(tensor: torch.Tensor) -> GradientSummary | None:
    # torch warns when .grad of a tensor that cannot have one is read.
    gradient = tensor.grad if tensor.is_leaf or tensor.retains_grad else None
    if gradient is None:
        return None
    plain = gradient.detach()
    # A sparse gradient is usually not coalesced, and its norm is that of the sums.
    values = stored_values(plain.coalesce() if plain.layout == torch.sparse_coo else plain).values
    statistics = measure(values)[0] if values is not None else Statistics(num_values=0)
    return GradientSummary(
        dtype=str(gradient.dtype).removeprefix("torch."),
        shape=tuple(gradient.shape),
        norm=statistics.l2,
        abs_max=statistics.abs_max,
        num_nonfinite=statistics.num_nonfinite,
    )


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0][:200]
