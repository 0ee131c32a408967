"""This file is small tensors that are glanced at together: few kernels read all of them."""

from typing import Any

import numpy as np
import torch

from torchmagic.tensors.glance import glance, sample
from torchmagic.tensors.moments import FEW_VALUES
from torchmagic.tensors.packing import packing_of
from torchmagic.tensors.reduce import SINGLES
from torchmagic.tensors.segments import segments_of

# Small tensors wait for others until they hold so many values together: a megabyte of single precision.
MOST_WAITING = 1 << 18


def is_small(values: torch.Tensor) -> bool:
    """Whether a ``readable`` tensor is one of those that are glanced at together."""
    return values.numel() <= FEW_VALUES and values.dtype in SINGLES and values.is_cpu


class Glances:
    """Takes glances at tensors; at small ones on the host together, at half of what they cost one by one.

    Those are copied as they come, so that they may be changed or freed afterwards.
    """

    def __init__(self) -> None:
        self._waiting: list[torch.Tensor] = []
        self._into: list[list[Any]] = []
        self._num_waiting = 0

    def take(self, values: torch.Tensor, into: list[Any]) -> torch.Tensor:
        """Have a list told what ``glance`` says of a tensor: at once, or of a small one at the latest by ``finish``.

        Args:
            values: A ``readable`` tensor of any shape.
            into: Gets the six numbers.

        Returns:
            The values that are looked at: of a small tensor a copy, of a large one a sample.
        """
        if not is_small(values):
            looked_at = sample(values.detach())
            into.extend(glance(looked_at))
            return looked_at
        copy = values.clone()
        self.wait(copy, into)
        return copy

    def wait(self, copy: torch.Tensor, into: list[Any]) -> None:
        """Have a list told what ``glance`` says of a tensor, at the latest by ``finish``.

        Args:
            copy: One that ``is_small``, which nobody else has.
            into: Gets the six numbers.
        """
        self._waiting.append(copy)
        self._into.append(into)
        self._num_waiting += copy.numel()
        if self._num_waiting >= MOST_WAITING:
            self.finish()

    def finish(self) -> None:
        """Tell all that waits."""
        waiting, into = self._waiting, self._into
        if not waiting:
            return
        self._waiting, self._into, self._num_waiting = [], [], 0
        packing = packing_of(tuple([values.numel() for values in waiting]))
        found = segments_of(packing, packing.pack(waiting))
        zeros = found.counts - found.filled
        with np.errstate(all="ignore"):  # of the unsure ones
            table = np.array((found.totals, np.sqrt(found.rests), found.lows, found.highs, zeros, found.counts))
        for one, numbers in zip(into, table.T.tolist(), strict=True):
            one.extend(numbers)
        for i in np.flatnonzero(found.unsure).tolist():
            into[i][:] = glance(waiting[i].reshape(-1))
