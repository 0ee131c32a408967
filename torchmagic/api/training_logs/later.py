"""This file is a small tensor of an accelerator that is read later, by the thread that writes, so that nobody waits."""

from contextlib import suppress
from typing import Any

import numpy as np
import torch

from torchmagic.tensors.batch import has_values


class Later:
    """The values that a tensor has now, to be read when there is time: the device is not waited for.

    Args:
        values: A detached tensor of few elements; it is copied on its device and not held.
    """

    __slots__ = ("_copy", "_done")

    def __init__(self, values: torch.Tensor) -> None:
        self._copy = values.clone()
        self._done: Any = None
        if values.is_cuda:  # the thread that reads has a stream of its own
            self._done = torch.cuda.current_stream(values.device).record_event()

    @property
    def is_there(self) -> bool:
        """Whether reading would not wait."""
        return self._done is None or bool(self._done.query())

    def read(self) -> Any:
        """Wait for the device and return the values: a number for one, else lists of numbers."""
        if self._done is not None:
            self._done.synchronize()
        return self._copy.item() if self._copy.numel() == 1 else self._copy.tolist()


def number_in(value: Any) -> float | Later | None:
    """Return the number that a value is, or where it can be read later; None for what is no single number.

    Args:
        value: A number of Python's or NumPy's, or a tensor or array of one value.
    """
    if isinstance(value, torch.Tensor):
        values = value.detach()
        if not has_values(values) or values.numel() != 1:
            return None
        return float(values.item()) if values.device.type == "cpu" else Later(values)
    if isinstance(value, np.ndarray) and value.size == 1 and value.dtype.kind in "biuf":
        return float(value.reshape(-1)[0])
    if isinstance(value, int | float | np.floating | np.integer | np.bool_):
        with suppress(OverflowError):  # whole numbers have no end
            return float(value)
    return None
