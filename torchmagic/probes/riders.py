"""This file is the riders: values that wait on a device for the one transfer of a step."""

from collections.abc import Callable, Sequence

import torch


class Riders:
    """Zero-dim tensors, and whom to tell of their values; who fetches something of the step takes them along.

    Attributes:
        waiting: What waits, with whom to tell.
    """

    def __init__(self) -> None:
        self.waiting: list[tuple[torch.Tensor, Callable[[float], None]]] = []

    @property
    def tensors(self) -> list[torch.Tensor]:
        """What waits."""
        return [tensor for tensor, _ in self.waiting]

    def add(self, tensor: torch.Tensor, tell: Callable[[float], None]) -> None:
        """Have a value wait."""
        self.waiting.append((tensor, tell))

    def arrive(self, values: Sequence[float]) -> None:
        """Tell of the values of ``tensors``, in that order; none waits any more."""
        waiting, self.waiting = self.waiting, []
        for (_, tell), value in zip(waiting, values, strict=True):
            tell(value)

    def clear(self) -> None:
        """Forget what waits."""
        self.waiting.clear()
