"""This file is the description of one tensor: metadata, statistics, values and gradient in one record."""

from dataclasses import replace
from typing import Any

import torch

from torchmagic.records.tensor import GradientSummary, Statistics, TensorRecord
from torchmagic.tensors.layout import metadata
from torchmagic.tensors.measure import measure
from torchmagic.tensors.preview import preview
from torchmagic.tensors.sources import StoredValues, as_tensor, stored_values


def describe(tensor: Any, *, name: str = "") -> TensorRecord:
    """Describe a tensor without changing or holding it, its gradient, or any random number stream.

    Args:
        tensor: A tensor of any kind, a parameter, a NumPy array or a NumPy number.
        name: What the user calls it.

    Returns:
        The record. What this kind of tensor cannot tell is left out, and a note says why.

    Raises:
        TypeError: If it is something else; one line says what came, what was wanted and what to do.

    Example:
        >>> record = describe(torch.arange(4), name="x")
        >>> record.shape, record.dtype, record.statistics.max
        ((4,), 'int64', 3)
    """
    source, notes = as_tensor(tensor)
    record = metadata(source, name=name, kind=type(tensor).__name__)
    try:
        stored = stored_values(source)
        record = replace(record, notes=notes + stored.notes)
        record = _with_values(record, stored)
        return replace(record, gradient=_gradient(source))
    except RuntimeError as error:
        return replace(record, notes=(*record.notes, f"its values cannot be read: {_first_line(error)}"))


def _with_values(record: TensorRecord, stored: StoredValues) -> TensorRecord:
    values = stored.values
    if values is None:
        return record
    # A subclass may give the operators a meaning of its own; its numbers are asked for in torch's.
    with torch._C.DisableTorchFunctionSubclass():  # noqa: SLF001 - documented under this name
        statistics, histogram = measure(values, repeat=stored.repeat)
        text = preview(values)
    if not stored.placed:
        statistics = replace(statistics, nonfinite_at=())
    return replace(
        record,
        statistics=statistics,
        histogram=histogram,
        values=text,
        notes=record.notes + _numbers_notes(values, statistics),
    )


def _numbers_notes(values: torch.Tensor, statistics: Statistics) -> tuple[str, ...]:
    notes = []
    if values.is_complex():
        notes.append("complex: statistics are of the magnitudes")
    if values.dtype == torch.uint64:
        notes.append("uint64: statistics are of the values as float64, exact up to 2**53")
    if statistics.num_sampled:
        notes.append(f"quantiles are from a sample of {statistics.num_sampled:,} values")
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


def _first_line(error: RuntimeError) -> str:
    return str(error).partition("\n")[0][:200]
