"""This file is the explosions: when gradients began to grow, and which update made a parameter non-finite."""

import copy
import math
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from torchmagic.probes.members import Optimizer
from torchmagic.probes.operands import operands
from torchmagic.probes.origin_causes import cause_of
from torchmagic.probes.origin_trace import Event, Trace
from torchmagic.probes.replay_wrappers import watch_operators
from torchmagic.records.nonfinite import Cause
from torchmagic.session.interrupts import pass_on
from torchmagic.tensors.finite import is_finite

# Weights this large belong to no trained network; initial weights are about one.
LARGE = 1e4
# A growth of the gradients by this much is an explosion, not a bad batch.
GROWTH = 1e3
# Norms that are kept; an explosion takes tens of steps.
MOST_NORMS = 4096


class Explosions:
    """Keeps the gradients' total norm of the last steps, and the rate of the last one of each optimizer.

    Attributes:
        norms: The norms, as each step began.
        rates: Those of the groups of an optimizer as it began its last step, by its identity: a schedule may have
            changed them by the time that somebody asks.
    """

    def __init__(self) -> None:
        self.norms: deque[float] = deque(maxlen=MOST_NORMS)
        self.rates: dict[int, list[float | None]] = {}

    def began(self, step: int) -> int | None:
        """Return the step from which the gradients grew to the present one; None where they did not grow by much."""
        norms = [norm for norm in self.norms if math.isfinite(norm)]
        first = len(norms) - 1
        while first > 0 and norms[first - 1] < norms[first]:
            first -= 1
        if first < 0 or norms[-1] < GROWTH * max(norms[first], 1e-30):
            return None
        while first + 2 < len(norms) and norms[first + 1] < 2 * norms[first]:
            first += 1
        return max(0, step - (len(norms) - 1 - first) - (len(self.norms) - len(norms)))

    def large(self, parameters: Iterable[torch.Tensor]) -> bool:
        """Whether weights are far larger than any training makes them."""
        floats = (each for each in parameters if each.is_floating_point() and each.numel())
        return any(float(each.detach().abs().max()) > LARGE for each in floats)

    def update(self, entry: Optimizer, value: torch.Tensor, step: int) -> dict[str, Any]:
        """Return the operator, the line and the cause of the update that broke a parameter, as far as they show."""
        optimizer = entry.ref()
        if optimizer is None:
            return {}
        facts: dict[str, Any] = {"operands": self._settings(optimizer, value)}
        found = _step_again(optimizer)
        if found is not None:
            event, trace = found
            facts |= {"op": event.op, "place": event.place, "cause": cause_of(event, trace, []), "proven": True}
            facts["operands"] = "; ".join(filter(None, (operands(event.call), facts["operands"])))
        else:
            facts |= self.since(step)
        return facts

    def since(self, step: int) -> dict[str, Any]:
        """Return the step from which the gradients grew, as the cause; nothing where they did not."""
        began = self.began(step)
        return {} if began is None else {"cause": Cause.EXPLODED_WEIGHTS, "began": began}

    def _settings(self, optimizer: torch.optim.Optimizer, value: torch.Tensor) -> str:
        """Return the optimizer's class with the rate that a parameter was stepped with, and what it divides by."""
        groups = optimizer.param_groups
        number = next((i for i, group in enumerate(groups) if any(each is value for each in group["params"])), 0)
        rates = self.rates.get(id(optimizer), [])
        rate = rates[number] if number < len(rates) else groups[number].get("lr")
        settings = {"lr": rate, "eps": groups[number].get("eps")}
        said = [f"{key} {each:.4g}" for key, each in settings.items() if isinstance(each, float)]
        return f"{type(optimizer).__name__} with {', '.join(said)}" if said else type(optimizer).__name__


def rates_of(groups: Sequence[Mapping[str, Any]]) -> list[float | None]:
    """Return the rates of some groups; None in place of a tensor, which is not held."""
    return [rate if type(rate := group.get("lr")) is float else None for group in groups]


def _step_again(optimizer: torch.optim.Optimizer) -> tuple[Event, Trace] | None:
    """Let a copy of the optimizer step on copies of its parameters, made finite, with gradients of zero.

    What its state and its settings alone make non-finite shows: a division by a moment that is zero, a rate that is
    infinite. The gradients of the step that did it are gone.
    """
    try:
        double = copy.deepcopy(optimizer)
        tensors = [each for group in double.param_groups for each in group["params"]]
        for each in (*tensors, *(leaf for leaf in tree_leaves(dict(double.state)) if isinstance(leaf, torch.Tensor))):
            if each.is_floating_point():
                each.detach().nan_to_num_(0.0, 0.0, 0.0)
        for each in tensors:
            each.grad = torch.zeros_like(each)
        trace = Trace(_step_again.__code__, lambda _: None)
        with watch_operators(trace.operator):
            double.step()
    except Exception as error:  # noqa: BLE001 - an optimizer that cannot be copied, or needs a closure, tells nothing
        pass_on(error)
        return None
    broken = next((each for each in tensors if not is_finite(each)), None)
    event = trace.origin(broken) if broken is not None else None
    return (event, trace) if event is not None and not event.outside else None
