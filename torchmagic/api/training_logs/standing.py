"""This file is where a training stands: how many of its steps were made, and what its newest numbers are."""

import math
import time
from collections.abc import Mapping
from typing import Any

from torchmagic.analyses.counting import counted
from torchmagic.views.numbers import as_seconds


class Standing:
    """Follows a training by the epochs and steps that it tells.

    Args:
        total_epochs: Epochs that it will take; None where nobody knows.
        total_steps: Steps that it will take, over all epochs.
    """

    def __init__(self, total_epochs: int | None = None, total_steps: int | None = None) -> None:
        self.total_epochs, self.total_steps = total_epochs, total_steps
        self.began = time.monotonic()
        self.position = 0
        self.epoch: int | None = None
        self.step: int | None = None
        self.loss: float | None = None
        self.best_loss: float | None = None
        self.nonfinite_losses = 0
        self._before = 0

    def move(self, epoch: int | None, step: int | None, loss: float | None) -> int:
        """Take the newest numbers, and return how many steps were made.

        Args:
            epoch: Number of the epoch.
            step: Number of the step, from 0, in its epoch or over all epochs; both are understood.
            loss: Its loss.
        """
        if step is None:
            self.position += 1
        else:
            if self.step is not None and epoch != self.epoch and step <= self.step:
                self._before = self.position  # the count began again
            self.position = self._before + step + 1
        self.epoch = self.epoch if epoch is None else epoch
        self.step = self.step if step is None else step
        if loss is not None:
            self.loss = loss
            if not math.isfinite(loss):
                self.nonfinite_losses += 1
            elif self.best_loss is None or loss < self.best_loss:
                self.best_loss = loss
        return self.position

    def said(self) -> str:
        """Return in words how the training ended."""
        losses = "" if self.loss is None else f", loss {self.loss:.4g}"
        if self.best_loss is not None and self.best_loss != self.loss:
            losses += f" (best {self.best_loss:.4g})"
        steps = counted(self.position, "step")
        return f"training ends: {steps} in {as_seconds(time.monotonic() - self.began)}{losses}"

    def to_dict(self) -> Mapping[str, Any]:
        """Return the numbers by name."""
        return {
            "total_epochs": self.total_epochs,
            "total_steps": self.total_steps,
            "steps": self.position,
            "epoch": self.epoch,
            "step": self.step,
            "loss": self.loss,
            "best_loss": self.best_loss,
            "nonfinite_losses": self.nonfinite_losses,
            "seconds": time.monotonic() - self.began,
        }
