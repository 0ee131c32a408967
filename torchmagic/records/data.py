"""This file is the data: what batches held, sample by sample where one was bad."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Source(StrEnum):
    """Where a batch was seen."""

    LOADER = "loader"
    MODEL = "model"
    LOSS = "loss"


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchRecord:
    """One tensor of a batch as first seen, and again whenever its dtype, layout, device or sample shape is new.

    Args:
        source: Whether a loader gave it, a model got it, or a loss compared it.
        name: Name of the loader, of the model, or of the loss function.
        field: Where it stands in the batch: ``0``, ``image``, ``1.mask``; ``target`` and ``input`` for a loss.
        step: Optimizer steps made before.
        shape: Its shape, the batch dimension first.
        dtype: ``float32``, ``int64``, …
        layout: ``contiguous``, ``channels_last``, ``strided``, or torch's name of a sparse layout.
        device: Where it lies.
        low: Least finite value looked at; NaN where there is none.
        high: Greatest finite value looked at.
        mean: Mean of the finite values looked at.
        std: Their standard deviation.
        training: Whether gradients were being recorded.
    """

    source: Source
    name: str
    field: str
    step: int
    shape: tuple[int, ...]
    dtype: str
    layout: str
    device: str
    low: float
    high: float
    mean: float
    std: float
    training: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class BadSampleRecord:
    """A sample with NaN or infinite values.

    Args:
        loader: Name of the loader that gave it.
        field: Where it stands in the batch.
        step: Optimizer steps made before.
        epoch: Pass over the loader, from 0.
        batch: Batch of that pass, from 0.
        row: Row of that batch; None where the batch has no rows.
        index: Index in the dataset; None where the loader does not tell.
        num_nan: NaN values in the sample.
        num_infinite: Infinite values in the sample.
    """

    loader: str
    field: str
    step: int
    epoch: int
    batch: int
    row: int | None
    index: int | None
    num_nan: int
    num_infinite: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassCountsRecord:
    """Class targets, over the batches that were looked at.

    Args:
        source: Whether a loader gave them or a loss got them.
        name: Name of the loader or of the loss function.
        field: Where they stand in the batch.
        num_batches: Batches looked at.
        num_few: Batches that held two classes at most, or a single one where there are only two.
        counts: Samples a class.
        num_in_order: Batches whose classes are those of the batch looked at before, or such as come after them.
    """

    source: Source
    name: str
    field: str
    num_batches: int
    num_few: int
    counts: Mapping[str, int]
    num_in_order: int = 0
