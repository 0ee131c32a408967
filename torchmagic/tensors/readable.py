"""This file is the statistics of a tensor of any kind, or a word on why there are none."""

import torch

from torchmagic.records.tensor import Statistics
from torchmagic.tensors.measure import measure
from torchmagic.tensors.reduce import UNREADABLE_ERRORS
from torchmagic.tensors.sources import stored_values


def readable_statistics(source: torch.Tensor) -> tuple[Statistics | None, tuple[str, ...]]:
    """Measure what a tensor stores.

    Args:
        source: Of any shape, dtype, layout and class.

    Returns:
        Its statistics without the spread, None where it has no values or they cannot be read; and notes, such as why.
    """
    try:
        stored = stored_values(source)
        if stored.values is None:
            return None, stored.notes
        # A subclass may give the operators a meaning of its own; its numbers are asked for in torch's.
        with torch._C.DisableTorchFunctionSubclass():  # noqa: SLF001 - documented under this name
            return measure(stored.values, repeat=stored.repeat, spread=False)[0], stored.notes
    except UNREADABLE_ERRORS as error:
        return None, (f"its values cannot be read: {str(error).partition(chr(10))[0][:200]}",)
