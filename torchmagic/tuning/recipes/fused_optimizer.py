"""This file is the recipe for an optimizer that updates all parameters in one kernel."""

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import torch

from torchmagic.tuning.modes import OptimizationMode
from torchmagic.tuning.recipe import Recipe
from torchmagic.tuning.setup import Setup

_CHOICES = "fused", "foreach"


def _unfit(setup: Setup) -> str:
    optimizer = setup.optimizer
    if optimizer is None:
        return "it changes the optimizer, not the model: use PyTorchOptimizer.optimize_training_loop"
    groups = optimizer.param_groups
    if any("fused" not in group for group in groups):
        return f"torch has no fused kernel for {type(optimizer).__name__}"
    if all(group["fused"] for group in groups):
        return f"{type(optimizer).__name__} is fused already"
    if any(group.get("differentiable") for group in groups):
        return f"a differentiable {type(optimizer).__name__} cannot be fused"
    parameters = [each for group in groups for each in group["params"]]
    if not all(each.is_floating_point() for each in parameters):
        return "fused kernels need parameters of floating point"
    return ""


def _apply(setup: Setup) -> Setup:
    optimizer = setup.optimizer
    if optimizer is None:
        return setup
    return replace(setup, throughout=(*setup.throughout, lambda: _fused(optimizer)))


@contextlib.contextmanager
def _fused(optimizer: torch.optim.Optimizer) -> Iterator[None]:
    """Let an optimizer run fused for a while; afterwards its settings are those of before."""
    before = [{name: group[name] for name in _CHOICES if name in group} for group in optimizer.param_groups]
    try:
        for group in optimizer.param_groups:
            group.update({"fused": True, **({"foreach": False} if "foreach" in group else {})})
        _move_counts(optimizer, to_parameters=True)
        yield
    finally:
        for group, choices in zip(optimizer.param_groups, before, strict=True):
            group.update(choices)
        _move_counts(optimizer, to_parameters=False)


def _move_counts(optimizer: torch.optim.Optimizer, *, to_parameters: bool) -> None:
    """Move step counts to where they are read: fused kernels do so on the device, others in Python."""
    groups = [(group, parameter) for group in optimizer.param_groups for parameter in group["params"]]
    for group, parameter in groups:
        state: Any = optimizer.state.get(parameter)
        count = state.get("step") if isinstance(state, dict) else None
        stays = group.get("capturable") or group.get("fused")
        place = parameter.device if to_parameters or stays else torch.device("cpu")
        if isinstance(count, torch.Tensor) and count.device != place:
            state["step"] = count.to(place)


FUSED_OPTIMIZER = Recipe(
    mode=OptimizationMode.FUSED_OPTIMIZER,
    changes="The optimizer's step runs as one fused kernel instead of several operations a parameter.",
    applies="torch's own optimizers that have such a kernel (SGD, Adam, AdamW, Adagrad) with floating parameters.",
    exactness="Products and sums of the update are rounded at other places: the last bits of the weights differ.",
    unfit=_unfit,
    apply=_apply,
)
