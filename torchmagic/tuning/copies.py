"""This file is a training copied whole: model, optimizer with its state, and criterion, tied together as before."""

import copy
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from torchmagic.models.twin import HOOKS, is_of_torch

# An optimizer's own attributes that belong to its original: its hooks, and methods that a scheduler wraps.
_LEFT = "step", "zero_grad"


@dataclass(frozen=True, slots=True, kw_only=True)
class Training:
    """What is trained, by what, towards what.

    Args:
        model: The model.
        optimizer: Steps its parameters.
        criterion: Takes outputs and target and returns the loss; None for a model that returns its loss.
        num_left_hooks: Hooks of the original's modules that a copy is without.
    """

    model: nn.Module
    optimizer: torch.optim.Optimizer
    criterion: Any = None
    num_left_hooks: int = 0


class NoCopyError(ValueError):
    """A training cannot be copied, so nothing can be compared without changing it."""


def copied(training: Training) -> Training:
    """Return a copy that shares nothing with the original: weights, buffers, gradients, optimizer state.

    Parameters that are one in two places are one in the copy. Hooks of torch's own come along, since weight norm needs
    them; the user's, which may write anywhere, stay behind, and so does what a scheduler put around the step.

    Raises:
        NoCopyError: If a part cannot be copied; one line that says which.
    """
    memo: dict[int, Any] = {}
    _check_leaves(training.model)
    parts = {name: getattr(training, name) for name in ("model", "criterion")}
    made = {name: copy_of(value, memo, name) for name, value in parts.items()}
    for group in training.optimizer.param_groups:
        if any(id(parameter) not in memo for parameter in group["params"]):
            raise NoCopyError("the optimizer steps parameters that are in neither model nor criterion")
    optimizer = copy_of(training.optimizer, memo, "optimizer")
    complete_optimizer(optimizer, training.optimizer, memo)
    return Training(optimizer=optimizer, num_left_hooks=remove_hooks(made["model"]), **made)


def copied_model(model: nn.Module) -> nn.Module:
    """Return a copy of a model alone, without the user's hooks.

    Raises:
        NoCopyError: If it cannot be copied; one line.
    """
    _check_leaves(model)
    made: nn.Module = copy_of(model, {}, "model")
    remove_hooks(made)
    return made


def remove_hooks(model: nn.Module) -> int:
    """Take the user's hooks off a copy, and return how many there were."""
    left = 0
    for module in model.modules():
        for hooks in (vars(module).get(name) or {} for name in HOOKS):
            # Beside the hooks themselves there are dictionaries of flags, by the same keys.
            for key in [key for key, hook in hooks.items() if not isinstance(hook, bool) and not is_of_torch(hook)]:
                del hooks[key]
                left += 1
    return left


def _check_leaves(model: nn.Module) -> None:
    for name, buffer in model.named_buffers():
        if not buffer.is_leaf:
            raise NoCopyError(f"the model cannot be copied: its buffer {name!r} is part of a graph")


def copy_of(value: Any, memo: dict[int, Any], name: str) -> Any:
    """Return a deep copy.

    Args:
        value: What is copied.
        memo: Copies made so far, by the identity of their originals.
        name: What it is called where it cannot be copied.

    Raises:
        NoCopyError: If it cannot be copied; one line.
    """
    try:
        return copy.deepcopy(value, memo)
    except Exception as error:
        said = " ".join(str(error).split())
        raise NoCopyError(f"the {name} cannot be copied ({type(error).__name__}: {said})") from error


def complete_optimizer(optimizer: Any, original: Any, memo: dict[int, Any]) -> None:
    """Copy what an optimizer keeps beside its state and its groups; torch leaves that out."""
    for name, value in vars(original).items():
        if name not in vars(optimizer) and name not in _LEFT and "hook" not in name:
            vars(optimizer)[name] = copy_of(value, memo, f"optimizer's {name}")
