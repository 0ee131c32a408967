"""This file is the weights at an origin: the parameter or buffer that was not finite before a forward, and why."""

import weakref
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import torch

from torchmagic.analyses.gradient_lines import lines_stepping
from torchmagic.probes.cast import Cast
from torchmagic.probes.explosions import Explosions
from torchmagic.probes.module_parts import modules_of
from torchmagic.probes.operands import described
from torchmagic.probes.optimizer_state import bad_state
from torchmagic.probes.origin_memory import Call
from torchmagic.probes.sites import Site, place_of, source_of
from torchmagic.records.loop import BY_HAND
from torchmagic.records.nonfinite import Birth, Cause
from torchmagic.records.place import Place
from torchmagic.tensors.finite import is_finite
from torchmagic.tensors.reduce import UNREADABLE_ERRORS, is_measurable


@dataclass(frozen=True, slots=True)
class Sick:
    """A parameter that is not finite.

    Args:
        name: What it is called.
        value: The parameter.
        call: The call of the model it belongs to; None where no model has it.
    """

    name: str
    value: torch.Tensor
    call: Call | None = None


class Weights:
    """Knows which parameters were not finite before the first step, and asks what made others so.

    Args:
        cast: Models and optimizers that take part.

    Attributes:
        explosions: How weights and gradients grew.
    """

    def __init__(self, cast: Cast) -> None:
        self.explosions = Explosions()
        self._cast = cast
        self._first: list[tuple[weakref.ref[torch.Tensor], torch.Tensor]] = []

    def look(self, step: int) -> None:
        """Measure all as the first step begins; what was measured is read when somebody asks."""
        if step:
            return
        refs: list[weakref.ref[Any]] = [ref for model in self._cast.models for ref in model.parameters.values()]
        refs += [ref for entry in self._cast.at_work.steppers for ref in entry.refs]
        values = {id(value): value for ref in refs if (value := ref()) is not None and is_measurable(value)}
        for value in values.values():
            try:
                self._first.append((weakref.ref(value), torch.linalg.vector_norm(value.detach(), float("inf"))))
            except UNREADABLE_ERRORS:  # a kind of tensor that cannot be asked, or an empty one
                continue

    def clear(self) -> None:
        """Let go of what was measured."""
        self._first.clear()
        self.explosions.rates.clear()

    def sick(self, calls: Iterable[Call], *, before: bool = False) -> Sick | None:
        """Return the first parameter that is not finite: of models, then of what is stepped without one.

        Args:
            calls: The calls of models.
            before: Whether those count that were so before the first step: they may lie where nobody reads them.
        """
        held: list[tuple[str, weakref.ref[Any], Call | None]] = [
            (name, ref, call) for call in calls for name, ref in call.model.parameters.items()
        ]
        for entry in self._cast.at_work.steppers:
            held += [(name, ref, None) for name, ref in zip(entry.names, entry.refs, strict=True)]
        found = ((name, value, call) for name, ref, call in held if (value := ref()) is not None)
        sick = (Sick(name, value, call) for name, value, call in found if not is_finite(value))
        return next((each for each in sick if before or not self._is_born(each.value)), None)

    def named(self, value: torch.Tensor) -> str | None:
        """Return what a parameter of a model is called; None for other tensors."""
        held = (pair for model in self._cast.models for pair in model.parameters.items())
        return next((name for name, ref in held if ref() is value), None)

    def broken_by(self, value: torch.Tensor, step: int, site: Site | None) -> tuple[Birth, dict[str, Any]]:
        """Return whether an update made a parameter non-finite, and the operator, state and cause as far as they show.

        A parameter that nobody steps was made or loaded so. Where all gradients were finite, a state of the optimizer
        that is not was so before: nothing else goes into it.

        Args:
            value: The parameter.
            step: Steps made so far.
            site: Where the step was made.
        """
        entries = (*self._cast.optimizers, *self._cast.at_work.stand_ins)
        entry = next((each for each in entries if any(ref() is value for ref in each.refs)), None)
        if not step or entry is None or self._is_born(value):
            return Birth.PARAMETER, {"proven": True}
        if entry.name == BY_HAND:
            return Birth.UPDATE, {"place": _by_hand(site), "optimizer": BY_HAND, **self.explosions.since(step)}
        optimizer = entry.ref()
        state = bad_state(optimizer, value) if optimizer is not None else None
        if state is not None:
            key, held = state
            words = f"{entry.class_name} with {key} of {described(held)}"
            facts = {"state": key, "optimizer": entry.class_name, "operands": words, "cause": Cause.BAD_STATE}
            return Birth.UPDATE, facts
        return Birth.UPDATE, self.explosions.update(entry, value, step)

    def _is_born(self, value: torch.Tensor) -> bool:
        return any(ref() is value and not is_finite(largest) for ref, largest in self._first)


def _by_hand(site: Site | None) -> Place | None:
    """Return the line of the user's that moves weights along ``.grad``: the first after the backward."""
    if site is None:
        return None
    lines = lines_stepping(source_of(site.code.co_filename))
    line = next((each for each in lines if each >= site.line), site.line)
    return place_of(Site(site.code, line))


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
