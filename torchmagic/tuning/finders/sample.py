"""This file is a batch of any size: rows of what a loader, a dataset or a person gave, again from the first on."""

from collections.abc import Mapping, Sized
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch.utils._pytree import tree_map
from torch.utils.data import DataLoader, Dataset

from torchmagic.tuning.batches import Batch, batch_of, rows_of
from torchmagic.tuning.finders.deadline import Deadline
from torchmagic.tuning.finders.trial_loader import IN_THIS_PROCESS, first_of

# Samples that are read of a dataset.
_NUM_READ = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """Rows that batches are made of.

    Args:
        batch: The rows, on the device of the model.
        num_rows: How many there are.
        present: Size of the batches that the user has now; None where that is not known.
        most: Samples of the dataset, beyond which no batch can be; None where that is not known.
    """

    batch: Batch
    num_rows: int
    present: int | None = None
    most: int | None = None


def sample_of(data: Any, device: torch.device, deadline: Deadline, *, has_criterion: bool) -> Sample:
    """Return the rows of a first batch.

    Args:
        data: A ``DataLoader``, a dataset, or one batch as a loader gives it.
        device: Where to.
        deadline: After which reading is given up.
        has_criterion: Whether there is a criterion beside the model.

    Raises:
        TypeError: If it is none of these; one line.
        ValueError: If there is no batch to be had, or its tensors do not agree on their rows; one line.
    """
    is_loader = isinstance(data, DataLoader)
    first = first_of(_loader_of(data), IN_THIS_PROCESS, deadline) if isinstance(data, DataLoader | Dataset) else data
    if not isinstance(first, torch.Tensor | Mapping | list | tuple):
        raise TypeError(f"a {type(data).__name__} came as data; wanted a DataLoader, a dataset, or one batch")
    batch = batch_of(first, device, has_criterion=has_criterion)
    rows = rows_of((batch.args, batch.kwargs, batch.target))
    if not rows:
        raise ValueError(
            "the tensors of the batch differ in their first dimension, so batches of other sizes cannot be made"
        )
    present = None if isinstance(data, Dataset) else rows
    if is_loader and isinstance(data.batch_size, int):
        present = data.batch_size
    return Sample(batch=batch, num_rows=rows, present=present, most=_length(data))


def _loader_of(data: Any) -> DataLoader[Any]:
    if isinstance(data, DataLoader):
        return data
    return DataLoader(data, batch_size=min(_NUM_READ, _length(data) or _NUM_READ))


def _length(data: Any) -> int | None:
    dataset = data.dataset if isinstance(data, DataLoader) else data if isinstance(data, Dataset) else None
    if not isinstance(dataset, Sized):
        return None
    try:
        return len(dataset)
    except (TypeError, NotImplementedError):  # an iterable one may have a length that it does not know
        return None


def resized(sample: Sample, size: int) -> Batch:
    """Return a batch of so many rows."""
    whole = (sample.batch.args, sample.batch.kwargs, sample.batch.target)
    args, kwargs, target = tree_map(partial(_resized, rows=sample.num_rows, size=size), whole)
    return Batch(args=args, kwargs=kwargs, target=target)


def _resized(value: Any, rows: int, size: int) -> Any:
    if not isinstance(value, torch.Tensor) or not value.ndim:
        return value
    if size <= rows:
        return value[:size]
    return torch.cat([value] * (size // rows) + [value[: size % rows]])
