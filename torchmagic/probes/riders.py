"""This file is the riders: values that wait on a device for the one transfer of a step."""

from collections.abc import Callable, Sequence

import torch


class Riders:
    """Zero-dim tensors, and whom to tell of their values; who fetches something of the step takes them along.

    Attributes:
        waiting: What waits, with all who want to be told.
    """

    def __init__(self) -> None:
        self.waiting: list[tuple[torch.Tensor, list[Callable[[float], None]]]] = []

    @property
    def tensors(self) -> list[torch.Tensor]:
        """What waits."""
        return [tensor for tensor, _ in self.waiting]

    def add(self, tensor: torch.Tensor, tell: Callable[[float], None]) -> None:
        """Have a value wait; what lies where the newest does is the same, and is fetched once."""
        if self.waiting and _is_same(self.waiting[-1][0], tensor):
            self.waiting[-1][1].append(tell)
        else:
            self.waiting.append((tensor, [tell]))

    def arrive(self, values: Sequence[float]) -> None:
        """Tell of the values of ``tensors``, in that order; none waits any more."""
        waiting, self.waiting = self.waiting, []
        for (_, tellers), value in zip(waiting, values, strict=True):
            for tell in tellers:
                tell(value)

    def clear(self) -> None:
        """Forget what waits."""
        self.waiting.clear()


def _is_same(one: torch.Tensor, other: torch.Tensor) -> bool:
    if not type(one) is type(other) is torch.Tensor:  # others may have no address to compare
        return False
    return one.dtype is other.dtype and one.device == other.device and one.data_ptr() == other.data_ptr()
