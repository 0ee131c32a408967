"""This file is the weights at an origin: the parameter or buffer that was not finite before a forward, and why."""

from collections.abc import Iterable
from typing import Any

import torch

from torchmagic.probes.cast import Cast
from torchmagic.probes.explosions import Explosions
from torchmagic.probes.module_parts import modules_of
from torchmagic.probes.operands import described
from torchmagic.probes.optimizer_state import bad_state
from torchmagic.probes.origin_memory import Call
from torchmagic.probes.sites import place_of
from torchmagic.records.nonfinite import Birth, Cause
from torchmagic.tensors.finite import is_finite


def bad_parameter(calls: Iterable[Call]) -> tuple[Call, str, torch.Tensor] | None:
    """Return the first parameter of models that is not finite, its name, and the call of its model."""
    for call in calls:
        for name, ref in call.model.parameters.items():
            value = ref()
            if value is not None and not is_finite(value):
                return call, name, value
    return None


def buffer_facts(calls: Iterable[Call], value: torch.Tensor, cast: Cast) -> dict[str, Any] | None:
    """Return what is known of a tensor that a model keeps as a buffer; None where none does."""
    for call in calls:
        for part in modules_of(call.module):
            for name, buffer in part._buffers.items():
                if buffer is value:
                    module = cast.path_of(part) or call.model.name
                    facts = {"model": call.model.name, "module": module, "parameter": f"{module}.{name}"}
                    return {**facts, "place": place_of(call.line()), "proven": True}
    return None


def broken_by(value: torch.Tensor, step: int, cast: Cast, explosions: Explosions) -> tuple[Birth, dict[str, Any]]:
    """Return whether an update made a parameter non-finite, and the operator, state and cause as far as they show.

    A parameter that no optimizer steps was made or loaded so. Where all gradients were finite, a state of the optimizer
    that is not was so before: nothing else goes into it.
    """
    entry = next((each for each in cast.optimizers if any(ref() is value for ref in each.refs)), None)
    if not step or entry is None:
        return Birth.PARAMETER, {"proven": True}
    optimizer = entry.ref()
    state = bad_state(optimizer, value) if optimizer is not None else None
    if state is not None:
        key, held = state
        words = f"{entry.class_name} with {key} of {described(held)}"
        return Birth.UPDATE, {"state": key, "optimizer": entry.class_name, "operands": words, "cause": Cause.BAD_STATE}
    return Birth.UPDATE, explosions.update(entry, step)
