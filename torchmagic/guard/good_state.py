"""This file is the last good state: a copy of weights, buffers and what the optimizer remembers."""

import math
from collections.abc import Iterator
from typing import Any

import torch
from torch import nn
from torch.nn.parameter import is_lazy
from torch.utils._pytree import tree_leaves

from torchmagic.tensors.finite import is_finite
from torchmagic.tensors.reduce import norms, total_norm


class GoodState:
    """Keeps one copy of a model's and an optimizer's state, in memory that is used again for the next one.

    Args:
        model: The model.
        optimizer: The optimizer.
        device: Where the copy is kept; None for beside each tensor.

    Attributes:
        step: The step after which the copy was made; None while there is none.
        norm: L2 norm of all weights then.
    """

    def __init__(self, model: nn.Module, optimizer: torch.optim.Optimizer, device: torch.device | None) -> None:
        self._model, self._optimizer, self._device = model, optimizer, device
        self._tensors: list[torch.Tensor] = []
        self._states: list[dict[Any, Any] | None] = []
        self.step: int | None = None
        self.norm = 0.0

    @property
    def num_bytes(self) -> int:
        """Memory that the copy takes."""
        return sum(map(_bytes, (*self._tensors, *_leaves(self._states))))

    def num_needed(self) -> int:
        """Memory that a copy would take now."""
        states = [self._optimizer.state.get(each) for each in self._stepped()]
        return sum(map(_bytes, (*self._held(), *_leaves(states))))

    def take(self, step: int, norm: float) -> None:
        """Copy the state as it is after a step; of an interrupted copy nothing is used.

        Args:
            step: The step after which this is.
            norm: L2 norm of all weights.
        """
        self.step = None
        before = self._tensors
        self._tensors = [
            self._copied(tensor, before[place] if place < len(before) else None)
            for place, tensor in enumerate(self._held())
        ]
        states = self._states
        self._states = [
            self._copied_state(self._optimizer.state.get(each), states[place] if place < len(states) else None)
            for place, each in enumerate(self._stepped())
        ]
        self.step, self.norm = step, norm

    def put_back(self) -> None:
        """Write the copy into the model's and the optimizer's own tensors; settings such as learning rates stay."""
        for tensor, copied in zip(self._held(), self._tensors, strict=True):
            tensor.detach().copy_(copied)
        for parameter, kept in zip(self._stepped(), self._states, strict=True):
            if kept is None:
                self._optimizer.state.pop(parameter, None)
            else:
                self._put_back_state(parameter, kept)

    def drop(self) -> None:
        """Let go of the copy."""
        self._tensors, self._states, self.step = [], [], None

    def weight_norm(self) -> float:
        """Return the L2 norm of all weights; NaN or infinity where one of them, or a buffer, is not finite."""
        weights = [each for each in self._parameters() if _is_real(each)]
        buffers = [each for each in self._model.buffers() if not is_lazy(each) and _is_real(each)]
        found = norms([*weights, *buffers])
        others = sum(found[len(weights) :])
        return total_norm(found[: len(weights)]) if math.isfinite(others) else others

    def bad_tensor(self) -> str:
        """Return the name of the first parameter or buffer that is not finite; empty where all are."""
        held = [*self._model.named_parameters(), *self._model.named_buffers()]
        return next((name for name, tensor in held if not is_lazy(tensor) and not is_finite(tensor)), "")

    def _copied(self, tensor: torch.Tensor, before: torch.Tensor | None) -> torch.Tensor:
        plain = tensor.detach()
        if before is not None and before.shape == plain.shape and before.dtype == plain.dtype:
            return before.copy_(plain)
        # Single numbers, such as how often an optimizer stepped, stay where they are: some have to be on the CPU.
        return plain.to(device=self._device if self._device and plain.dim() else plain.device, copy=True)

    def _copied_state(self, state: Any, before: Any) -> Any:
        """Copy what an optimizer remembers of one parameter: tensors, numbers, and lists and dictionaries of them."""
        if isinstance(state, torch.Tensor):
            return self._copied(state, before if isinstance(before, torch.Tensor) else None)
        if isinstance(state, dict):
            known = before if isinstance(before, dict) else {}
            return {key: self._copied_state(value, known.get(key)) for key, value in state.items()}
        if isinstance(state, list | tuple):
            return type(state)(self._copied_state(value, None) for value in state)
        return state

    def _put_back_state(self, parameter: torch.Tensor, kept: dict[Any, Any]) -> None:
        state = self._optimizer.state[parameter]
        for key in [key for key in state if key not in kept]:
            del state[key]
        for key, value in kept.items():
            now = state.get(key)
            if isinstance(value, torch.Tensor) and isinstance(now, torch.Tensor) and now.shape == value.shape:
                now.detach().copy_(value)
            else:
                state[key] = _anew(value, parameter.device)

    def _parameters(self) -> Iterator[torch.Tensor]:
        seen: set[int] = set()
        for parameter in (*self._model.parameters(), *self._stepped()):
            if id(parameter) not in seen and not is_lazy(parameter):
                seen.add(id(parameter))
                yield parameter

    def _held(self) -> list[torch.Tensor]:
        return [*self._parameters(), *(each for each in self._model.buffers() if not is_lazy(each))]

    def _stepped(self) -> list[torch.Tensor]:
        return [each for group in self._optimizer.param_groups for each in group["params"]]


def _anew(value: Any, device: torch.device) -> Any:
    if isinstance(value, torch.Tensor):
        return value.to(device=device if value.dim() else value.device, copy=True)
    if isinstance(value, dict):
        return {key: _anew(each, device) for key, each in value.items()}
    return type(value)(_anew(each, device) for each in value) if isinstance(value, list | tuple) else value


def _leaves(states: Any) -> list[torch.Tensor]:
    return [each for each in tree_leaves(states) if isinstance(each, torch.Tensor)]


def _bytes(tensor: torch.Tensor) -> int:
    return tensor.numel() * tensor.element_size()


def _is_real(tensor: torch.Tensor) -> bool:
    return (tensor.is_floating_point() or tensor.is_complex()) and not tensor.is_meta
