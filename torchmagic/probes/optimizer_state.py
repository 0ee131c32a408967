"""This file is the optimizer's state: what it remembers for each value of a parameter, and whether that is finite."""

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import torch

from torchmagic.probes.cast import Cast
from torchmagic.probes.members import Optimizer
from torchmagic.tensors.finite import is_finite
from torchmagic.tensors.reduce import is_measurable, norms

# An update is divided by the root of these, or by these: where one is infinite, the update is zero.
DIVISORS = frozenset({"exp_avg_sq", "max_exp_avg_sq", "square_avg", "sum", "exp_inf"})
# What an update is made of; an infinity in it goes into the weights. An optimizer of the user's own may keep an
# infinity on purpose, as a best value so far, but no NaN.
SUMMANDS = frozenset({"exp_avg", "momentum_buffer", "grad_avg", "acc_delta", "ax", "prev"})


class State(NamedTuple):
    """A state that is not finite: of which optimizer and parameter, under which key, and whether it only silences."""

    optimizer: str
    parameter: str
    key: str
    value: torch.Tensor
    silences: bool


def steps_made(state: Any) -> int | None:
    """Return how many steps the state of a parameter remembers; None where it does not say.

    What an optimizer prepares as it is built, as Adagrad does, remembers none.
    """
    step = state.get("step", state.get("n_iter")) if isinstance(state, dict) else None
    return int(step) if isinstance(step, int | float | torch.Tensor) else None


def has_stepped(optimizer: torch.optim.Optimizer, parameter: torch.Tensor) -> bool:
    """Whether an optimizer holds the state of earlier steps on a parameter."""
    state = optimizer.state.get(parameter)
    return bool(state) and steps_made(state) != 0


def bad_state(optimizer: torch.optim.Optimizer, parameter: torch.Tensor) -> tuple[str, torch.Tensor] | None:
    """Return the state of a parameter that breaks its update, with its key; None where all are well."""
    for key, value in _states(optimizer, parameter):
        if not is_finite(value) and _breaks(key, value):
            return key, value
    return None


def bad_states(cast: Cast, *, on_cpu: bool) -> Iterator[State]:
    """Yield the states of all optimizers that are not finite, those of finite parameters alone.

    Args:
        cast: Whose optimizers are looked at.
        on_cpu: Whether to leave out what lies on a device, for which the host would have to wait.
    """
    for entry in cast.optimizers:
        optimizer = entry.ref()
        if optimizer is not None:
            yield from _bad_of(entry, optimizer, on_cpu=on_cpu)


def _bad_of(entry: Optimizer, optimizer: torch.optim.Optimizer, *, on_cpu: bool) -> Iterator[State]:
    held = [
        (name, parameter, key, value)
        for name, ref in zip(entry.names, entry.refs, strict=True)
        if (parameter := ref()) is not None
        for key, value in _states(optimizer, parameter)
        if value.is_cpu or not on_cpu
    ]
    sizes = norms([value for *_, value in held])
    for (name, parameter, key, value), size in zip(held, sizes, strict=True):
        if math.isfinite(size) or is_finite(value) or not is_finite(parameter):
            continue
        silences = key in DIVISORS and not bool(torch.isnan(value).any())
        if silences or _breaks(key, value):
            yield State(entry.class_name, name, key, value, silences)


def _states(optimizer: torch.optim.Optimizer, parameter: torch.Tensor) -> Iterator[tuple[str, Any]]:
    """Yield what an optimizer remembers for each value of a parameter."""
    state = optimizer.state.get(parameter)
    for key, value in state.items() if isinstance(state, dict) else ():
        if isinstance(value, torch.Tensor) and value.shape == parameter.shape and is_measurable(value):
            yield str(key), value.detach()


def _breaks(key: str, value: torch.Tensor) -> bool:
    return key in SUMMANDS or bool(torch.isnan(value).any())
