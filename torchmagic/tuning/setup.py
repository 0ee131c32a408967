"""This file is what a recipe is given and gives back: how a model is called, and what surrounds a step."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn

from torchmagic.tuning.modes import OptimizationMode


@dataclass(slots=True)
class Notes:
    """What became of the recipes of one setup; it grows when a recipe is found not to work at the first call.

    Attributes:
        in_force: Modes whose recipe is at work.
        refused: Modes whose recipe is not, with the reason.
        remarks: What else a person should know, one line each.
    """

    in_force: list[OptimizationMode] = field(default_factory=list)
    refused: dict[OptimizationMode, str] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)

    def refuse(self, mode: OptimizationMode, reason: str) -> None:
        """Note that the recipe of a mode is not at work, and why."""
        if mode in self.in_force:
            self.in_force.remove(mode)
        self.refused[mode] = reason

    def lines(self) -> tuple[str, ...]:
        """Return all that is to be said, one line each."""
        return (*(f"{mode.value}: {reason}" for mode, reason in self.refused.items()), *self.remarks)


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """How a model is called and trained; a recipe returns one that differs in what it changes.

    Args:
        model: The user's model, or a copy: whose weights are trained.
        call: Runs its forward; takes what the model takes and returns what it returns.
        optimizer: What steps it; None where only the model is optimised.
        around: Contexts entered around each optimizer step, the first outermost.
        throughout: Contexts entered around a whole training.
        parts: Pieces that a batch is cut into, each with a backward of its own.
        dtype: Lower precision in use, which the agreement is judged by.
        is_scaled: Whether losses must be scaled against underflow (float16).
        is_inference: Whether only a forward is wanted: nothing is trained.
        options: What the caller chose, such as ``micro_batches``, by name.
        notes: What became of the recipes.
    """

    model: nn.Module
    call: Callable[..., Any]
    optimizer: torch.optim.Optimizer | None = None
    around: tuple[Callable[[], AbstractContextManager[Any]], ...] = ()
    throughout: tuple[Callable[[], AbstractContextManager[Any]], ...] = ()
    parts: int = 1
    dtype: torch.dtype | None = None
    is_scaled: bool = False
    is_inference: bool = False
    options: dict[str, Any] = field(default_factory=dict)
    notes: Notes = field(default_factory=Notes)


def device_of(model: nn.Module) -> torch.device:
    """Return the device of the first parameter or buffer; the CPU where there is none."""
    for tensor in (*model.parameters(), *model.buffers()):
        return tensor.device
    return torch.device("cpu")
