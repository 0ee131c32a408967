"""This file is a batch as a training step takes it: the model's arguments, the target, and the rows that it has."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch
from torch import nn
from torch.utils._pytree import tree_leaves, tree_map


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """One batch.

    Args:
        args: What the model takes by position; tensors with rows in the first dimension.
        kwargs: What it takes by name.
        target: What the criterion takes beside the outputs; None where the model computes its loss itself.
    """

    args: tuple[Any, ...]
    kwargs: dict[str, Any] = field(default_factory=dict)
    target: Any = None


def batch_of(batch: Any, device: torch.device, *, has_criterion: bool) -> Batch:
    """Return what a loader gave as arguments and target, on a device.

    A pair or longer sequence is inputs and, last, the target; a mapping is arguments by name of a model that computes
    its own loss; a lone tensor is input and target both.

    Raises:
        TypeError: If it is none of these; one line.
    """
    batch = tree_map(lambda each: _on(each, device), batch)
    if isinstance(batch, Mapping):
        if has_criterion:
            raise TypeError("a batch by names came: give criterion=None for a model that returns its loss, or pairs")
        return Batch(args=(), kwargs=dict(batch))
    if isinstance(batch, torch.Tensor):
        return Batch(args=(batch,), target=batch)
    if isinstance(batch, Sequence) and len(batch) > 1 and has_criterion:
        return Batch(args=tuple(batch[:-1]), target=batch[-1])
    if isinstance(batch, Sequence) and batch and not has_criterion:
        return Batch(args=tuple(batch))
    raise TypeError(f"a batch of {type(batch).__name__} came; wanted (input, target), a tensor, or a mapping by names")


def _on(value: Any, device: torch.device) -> Any:
    return value.to(device, non_blocking=True) if isinstance(value, torch.Tensor) else value


def rows_of(value: Any) -> int | None:
    """Return the size of the first dimension, where all tensors in a value agree on it; otherwise None."""
    sizes = {each.shape[0] for each in tree_leaves(value) if isinstance(each, torch.Tensor) and each.ndim}
    return sizes.pop() if len(sizes) == 1 else None


def pieces_of(value: Any, number: int) -> list[Any]:
    """Return a value cut along its rows into pieces as equal as can be, at most as many as there are rows.

    Raises:
        ValueError: If its tensors do not have the same number of rows; one line.
    """
    rows = rows_of(value)
    if rows is None:
        raise ValueError("the tensors of the batch differ in their first dimension, so it cannot be cut into pieces")
    number = max(1, min(number, rows))
    edges = [rows * i // number for i in range(number + 1)]
    return [tree_map(partial(_cut, start=start, end=end), value) for start, end in itertools.pairwise(edges)]


def _cut(value: Any, start: int, end: int) -> Any:
    return value[start:end] if isinstance(value, torch.Tensor) and value.ndim else value


def cut(batch: Batch, number: int) -> Iterator[Batch]:
    """Yield a batch in pieces."""
    for args, kwargs, target in pieces_of((batch.args, batch.kwargs, batch.target), number):
        yield Batch(args=args, kwargs=kwargs, target=target)


def shares(batches: Sequence[Batch], criterion: Any) -> list[float]:
    """Return by what each batch's loss is to be multiplied, so that the sum is the loss of all as one batch.

    Losses that are a sum need nothing. Those that are a mean count as many rows as they have, or the weights of their
    targets where the criterion weighs classes or ignores some. Without a ``reduction`` a mean is taken for granted.
    """
    if len(batches) == 1 or getattr(criterion, "reduction", "mean") == "sum":
        return [1.0] * len(batches)
    counted = [_counted(batch, criterion) for batch in batches]
    total = sum(counted)
    return [each / total if total else 1 / len(batches) for each in counted]


def _counted(batch: Batch, criterion: Any) -> float:
    target = batch.target
    weighs = isinstance(criterion, nn.CrossEntropyLoss | nn.NLLLoss) and isinstance(target, torch.Tensor)
    if weighs and not target.is_floating_point():
        kept = target[target != criterion.ignore_index]
        return float(kept.numel() if criterion.weight is None else criterion.weight[kept].sum())
    return float(rows_of((batch.args, batch.kwargs)) or 1)
