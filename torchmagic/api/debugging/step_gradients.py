"""This file is the look at a step's gradients that a level asks for: their norms, or all statistics of each."""

import math
from collections import deque
from collections.abc import Mapping

import torch
from torch import nn

from torchmagic.models.gradient_checks import GradientStatistics, held_gradients, statistics_of, total_norm
from torchmagic.tensors import reduce

Statistics = Mapping[str, GradientStatistics]
# Statistics of so many gradients are remembered: some megabytes, whatever the model.
MOST_STATISTICS = 20_000


def looked_at(
    parameters: Mapping[str, nn.Parameter], scaler: torch.amp.GradScaler | None, *, closely: bool
) -> tuple[Statistics, float]:
    """Measure the gradients of a step.

    Args:
        parameters: The parameters, by name.
        scaler: The gradient scaler whose factor is in them; None for none.
        closely: Whether the statistics of each are wanted; otherwise they are measured where one is not finite.

    Returns:
        Statistics by name, empty where they were not measured, and the norm of all together.
    """
    scale = scaler.get_scale() if scaler is not None and scaler.is_enabled() else 1.0
    held = held_gradients(parameters)
    if not closely:
        total = reduce.total_norm(reduce.norms(list(held.values())))
        if math.isfinite(total):
            return {}, total / scale
    found = statistics_of(held)
    if scale != 1.0:
        found = {name: each.unscaled(scale) for name, each in found.items()}
    return found, total_norm(found)


class KeptStatistics:
    """The statistics of the last steps, bounded by their number and not by that of the steps."""

    def __init__(self) -> None:
        self._steps: deque[tuple[int, Statistics]] = deque()
        self._number = 0

    @property
    def steps(self) -> list[tuple[int, Statistics]]:
        """Steps with their statistics, oldest first."""
        return list(self._steps)

    def add(self, step: int, statistics: Statistics) -> None:
        """Remember a step, and forget old ones where there are too many."""
        self._steps.append((step, statistics))
        self._number += len(statistics)
        while self._number > MOST_STATISTICS and len(self._steps) > 1:
            self._number -= len(self._steps.popleft()[1])

    def clear(self) -> None:
        """Forget all steps."""
        self._steps.clear()
        self._number = 0
