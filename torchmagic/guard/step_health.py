"""This file is the health of a step: its losses and the norm of its gradients, with one wait for the device."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import torch

from torchmagic.tensors.reduce import fetch, is_single, norms, packs_well, quick_total, total_norm


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """How a step is.

    Args:
        losses: One a part.
        norm: L2 norm of all gradients together; NaN where one is NaN, else infinite where one is infinite.
    """

    losses: tuple[float, ...]
    norm: float


def losses_of(losses: Sequence[torch.Tensor]) -> tuple[float, ...]:
    """Return the values of losses: one transfer, and one wait, from a device."""
    return tuple(map(float, fetch(losses)))


def health_of(losses: Sequence[torch.Tensor], gradients: Sequence[torch.Tensor]) -> Health:
    """Return losses and norm of gradients; from a device in one transfer, so that the host waits once.

    Args:
        losses: Single numbers without a graph.
        gradients: Tensors of any shape and kind.
    """
    if all(each.is_cpu for each in (*losses, *gradients)):
        return Health(losses=losses_of(losses), norm=quick_total(gradients, pack=packs_well(gradients)))
    return in_one_transfer(losses, gradients)


def in_one_transfer(losses: Sequence[torch.Tensor], gradients: Sequence[torch.Tensor]) -> Health:
    """Return the same for tensors on a device; more transfers only where something is not finite, or of a rare kind."""
    if gradients and all(map(is_single, gradients)):
        found = fetch([*losses, *torch._foreach_norm(list(gradients), 2)])  # noqa: SLF001 - what clip_grad_norm_ uses
        if math.isfinite(sum(found)):
            return Health(losses=tuple(found[: len(losses)]), norm=total_norm(found[len(losses) :]))
    return Health(losses=losses_of(losses), norm=total_norm(norms(gradients)))


def gradients_of(optimizer: torch.optim.Optimizer) -> list[torch.Tensor]:
    """Return the gradients that an optimizer would step with."""
    return list(_gradients(each for group in optimizer.param_groups for each in group["params"]))


def _gradients(parameters: Iterable[torch.Tensor]) -> Iterable[torch.Tensor]:
    return (each.grad for each in parameters if each.grad is not None)
