"""This file is the tensors of a nested batch, with where they stand in it."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import torch

from torchmagic.tensors.sources import as_tensor


def fields_of(batch: Any, prefix: str = "") -> Iterator[tuple[str, torch.Tensor]]:
    """Yield all tensors of a batch with their places: empty for a bare tensor, else such as ``image.left``.

    Args:
        batch: A tensor or NumPy array, or dictionaries, tuples and lists of such; other values are passed over.
        prefix: Where the batch itself stands.

    Raises:
        TypeError: If a NumPy array has a dtype that torch does not know.
    """
    if isinstance(batch, torch.Tensor | np.ndarray):
        yield prefix, as_tensor(batch)[0]
        return
    for key, value in items_of(batch):
        yield from fields_of(value, f"{prefix}.{key}" if prefix else key)


def items_of(batch: Any) -> Iterator[tuple[str, Any]]:
    """Yield what a container holds, by name or number; nothing for what is none."""
    if isinstance(batch, Mapping):
        yield from ((str(key), value) for key, value in batch.items())
    elif isinstance(batch, tuple) and hasattr(batch, "_fields"):
        yield from zip(batch._fields, batch, strict=True)
    elif isinstance(batch, tuple | list):
        yield from ((str(index), value) for index, value in enumerate(batch))
