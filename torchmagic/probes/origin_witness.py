"""This file is the witnesses: one small parameter a model whose gradient tells that a backward went wrong."""

import math
import weakref
from collections.abc import Iterable

import torch

from torchmagic.probes.cast import Cast
from torchmagic.probes.members import Model
from torchmagic.probes.origin_memory import Call
from torchmagic.tensors.finite import is_finite
from torchmagic.tensors.presence import has_numbers
from torchmagic.tensors.reduce import norms

# A witness must be quick to look at.
MOST_VALUES = 65_536


class Witnesses:
    """Asks the parameter nearest to a model's input: what breaks anywhere in a backward comes to it last.

    Args:
        cast: Models that take part.
    """

    def __init__(self, cast: Cast) -> None:
        self._cast = cast
        self._known: dict[str, weakref.ref[torch.Tensor]] = {}

    def bad(self, calls: Iterable[Call], *, far: bool = False) -> list[tuple[str, torch.Tensor]]:
        """Return the names and gradients that are not finite, of models whose witness says that there are some.

        Args:
            calls: Calls of models.
            far: Whether gradients on a device, for which the host waits, are looked at too.
        """
        found = []
        for name, model in {each.model.name: each.model for each in calls}.items():
            gradient = self._gradient(name, model, far=far)
            if gradient is None or math.isfinite(gradient.sum().item()) or is_finite(gradient):
                continue
            held = [(name, value.grad) for name, ref in model.parameters.items() if (value := ref()) is not None]
            found += [(name, grad) for name, grad in held if grad is not None and not is_finite(grad)]
        return found or self._bad_by_hand(far=far)

    def _bad_by_hand(self, *, far: bool) -> list[tuple[str, torch.Tensor]]:
        """Return the same of what a loop steps by hand, which may be tensors of no model."""
        named = [pair for entry in self._cast.at_work.stand_ins for pair in zip(entry.names, entry.refs, strict=True)]
        held = [(name, value.grad) for name, ref in named if (value := ref()) is not None]
        looked_at = [(name, grad) for name, grad in held if grad is not None and _suits(grad, far=far)]
        if math.isfinite(sum(norms([grad for _, grad in looked_at]))):
            return []
        return [(name, grad) for name, grad in looked_at if not is_finite(grad)]

    def _gradient(self, name: str, model: Model, *, far: bool) -> torch.Tensor | None:
        ref = self._known.get(name)
        witness = ref() if ref is not None else None
        if witness is None or witness.grad is None:
            values = (value for ref in model.parameters.values() if (value := ref()) is not None)
            witness = next((each for each in values if _suits(each.grad, far=far)), None)
            if witness is None:
                return None
            self._known[name] = weakref.ref(witness)
        return witness.grad if witness.grad is None or far or witness.grad.is_cpu else None


def _suits(gradient: torch.Tensor | None, *, far: bool) -> bool:
    """Whether a gradient is there, and can be looked at, without waiting for a device unless far ones are asked for."""
    return (
        gradient is not None
        and (far or gradient.device.type == "cpu")
        and gradient.layout is torch.strided
        and gradient.is_floating_point()
        and 0 < gradient.numel() <= MOST_VALUES
        and has_numbers(gradient)
    )
