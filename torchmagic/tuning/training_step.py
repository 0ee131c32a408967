"""This file is one optimizer step, done by a setup: forward, loss, backward, step."""

import contextlib
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from torchmagic.tuning.batches import Batch, cut, shares
from torchmagic.tuning.setup import Setup, device_of

# Called after the backward and before the step, with the outputs and the loss.
Look = Callable[[Sequence[Any], torch.Tensor], None]


class TrainingStep:
    """Steps of one training.

    Args:
        setup: How the model is called and what surrounds a step; it has an optimizer.
        criterion: Takes outputs and target; None for a model that returns its loss, as attribute, by name, or first.

    Raises:
        ValueError: If the setup has no optimizer, or one that wants to call the forward itself.
    """

    def __init__(self, setup: Setup, criterion: Any) -> None:
        if setup.optimizer is None:
            raise ValueError("a setup without an optimizer came; a training step needs one")
        _check_step(setup.optimizer)
        self.setup, self._criterion, self._optimizer = setup, criterion, setup.optimizer
        self._scaler = torch.amp.GradScaler(device_of(setup.model).type) if setup.is_scaled else None

    def __call__(self, batches: Sequence[Batch], look: Look | None = None) -> torch.Tensor:
        """Do one optimizer step.

        Args:
            batches: Those whose gradients are added up before the step, as if they were one.
            look: Called before the step, when gradients are there and not scaled.

        Returns:
            The loss, a tensor of one number without a graph; not fetched from the device.
        """
        with contextlib.ExitStack() as stack:
            for context in self.setup.around:
                stack.enter_context(context())
            return self._step(batches, look)

    def clear(self) -> None:
        """Let go of the gradients of the step before, as the next one would begin by doing."""
        self._optimizer.zero_grad()

    def _step(self, batches: Sequence[Batch], look: Look | None) -> torch.Tensor:
        self._optimizer.zero_grad()
        pieces = [piece for batch in batches for piece in self._pieces(batch)]
        losses, seen = [], []
        for piece, share in zip(pieces, shares(pieces, self._criterion), strict=True):
            outputs, loss = self._forward(piece)
            if look is not None:
                seen.append(outputs)
            if share == 0:  # all its targets are ignored, and their mean is no number
                continue
            # Times one would change nothing, and cost an operation.
            loss = loss if share == 1 else loss * share
            (self._scaler.scale(loss) if self._scaler is not None else loss).backward()  # type: ignore[no-untyped-call] # torch
            losses.append(loss.detach())
        total = losses[0] if len(losses) == 1 else torch.stack(losses).sum()
        self._update(look, seen, total)
        return total

    def _pieces(self, batch: Batch) -> list[Batch]:
        return list(cut(batch, self.setup.parts)) if self.setup.parts > 1 else [batch]

    def _forward(self, batch: Batch) -> tuple[Any, torch.Tensor]:
        outputs = self.setup.call(*batch.args, **batch.kwargs)
        if self._criterion is not None:
            return outputs, self._criterion(outputs, batch.target)
        return outputs, _own_loss(outputs)

    def _update(self, look: Look | None, outputs: Sequence[Any], loss: torch.Tensor) -> None:
        if self._scaler is not None:
            if look is not None:
                self._scaler.unscale_(self._optimizer)
                look(outputs, loss)
            self._scaler.step(self._optimizer)
            self._scaler.update()
            return
        if look is not None:
            look(outputs, loss)
        self._optimizer.step()


def _check_step(optimizer: torch.optim.Optimizer) -> None:
    closure = inspect.signature(type(optimizer).step).parameters.get("closure")
    if closure is not None and closure.default is inspect.Parameter.empty:
        name = type(optimizer).__name__
        raise ValueError(
            f"{name} came, whose step calls the forward itself; take an optimizer that steps without closure"
        )


def _own_loss(outputs: Any) -> torch.Tensor:
    """Return the loss among the outputs of a model that computes it itself.

    Raises:
        TypeError: If there is none; one line.
    """
    found = outputs.get("loss") if isinstance(outputs, Mapping) else getattr(outputs, "loss", None)
    if found is None and isinstance(outputs, tuple | list) and outputs:
        found = outputs[0]
    found = outputs if found is None else found
    if isinstance(found, torch.Tensor) and found.numel() == 1:
        return found.reshape(())
    raise TypeError(f"no criterion was given, and the model returned {type(outputs).__name__} without a loss")
