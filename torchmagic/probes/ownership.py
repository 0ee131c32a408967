"""This file watches parameters that receive gradients although no optimizer owns them."""

import math
import weakref
from types import FrameType
from typing import Any

import torch
from torch import nn

from torchmagic.probes.cast import Cast
from torchmagic.probes.members import Model, present
from torchmagic.probes.module_parts import parameters_of
from torchmagic.probes.scores import scorers
from torchmagic.probes.taps import Taps
from torchmagic.records.protocol import UnownedGradientsRecord
from torchmagic.session.recorder import Recorder
from torchmagic.tensors.reduce import norms

# Iterations that are looked at: enough to convince a rule.
MOST_LOOKS = 8
FIRST_STEPS, BETWEEN_LOOKS = 4, 16
# From this step on, looks are rarer: what is forgotten is forgotten from the start, or where a phase begins.
LATER_STEPS, BETWEEN_LATER_LOOKS = 128, 64
# The model of parameters that belong to none.
LOOSE = ""
# Weights that were drawn apart from each other are 1.4 times their length apart.
NEAR = 0.5


class Ownership:
    """Records ``UnownedGradientsRecord`` at the first steps at which such parameters got a gradient."""

    def __init__(self, cast: Cast) -> None:
        self._cast = cast
        self._recorder: Recorder | None = None
        self._taps: Taps | None = None
        self._looks: dict[str, int] = {}
        self._received: dict[int, tuple[weakref.ref[torch.Tensor], int]] = {}
        self._lengths: dict[str, float] = {}
        self._scorers: set[int] | None = None  # parameters whose layers gave all that any loss was made of

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Listen for losses; else a look at the end of a step is enough."""
        self._recorder, self._taps = recorder, taps
        taps.on("backward_begin", self._backward)

    def flush(self, step: int) -> None:
        """Look at the models' parameters after the first steps, then now and then."""
        if step >= FIRST_STEPS and self._taps is not None:
            between = BETWEEN_LOOKS if step < LATER_STEPS else BETWEEN_LATER_LOOKS
            self._taps.rest(self, until=step - step % between + between)
        entries = present(self._cast.optimizers)
        owned = {id(tensor) for entry in entries for ref in entry.refs if (tensor := ref()) is not None}
        for model in present(self._cast.models):
            if self._looks.get(model.name, 0) < MOST_LOOKS:
                self._look(model, owned)
        steps = any(isinstance(entry.ref(), torch.optim.Optimizer) for entry in entries)
        if steps and self._looks.get(LOOSE, 0) < MOST_LOOKS:
            self._look_at_loose(owned)

    def detach(self) -> None:
        """Let go of everything."""
        self._received.clear()

    def _backward(self, tensors: Any, frame: FrameType) -> None:
        """Keep the parameters whose scores each loss so far was."""
        if self._scorers is None or self._scorers:
            found = scorers(tensors) if isinstance(tensors, torch.Tensor) else set()
            self._scorers = found if self._scorers is None else self._scorers & found

    def _look(self, model: Model, owned: set[int]) -> None:
        module = model.ref()
        if module is None or self._recorder is None:
            return
        parameters: dict[str, torch.Tensor] = {
            name: tensor for name, ref in model.parameters.items() if (tensor := ref()) is not None
        }
        unowned = {n: p for n, p in parameters.items() if id(p) not in owned and p.requires_grad and self._grew(p)}
        if not unowned or self._all_owned_elsewhere(unowned):
            return
        if len(unowned) == len(parameters) and self._is_copy(parameters, owned):
            return
        num_owned = sum(id(parameter) in owned for parameter in parameters.values())
        self._tell(model.name, unowned, owned=num_owned, training=module.training)

    def _look_at_loose(self, owned: set[int]) -> None:
        """Look at parameters that the user has a name for and no model has."""
        refs = [ref for model in self._cast.models for ref in model.parameters.values()]
        held = {id(tensor) for ref in refs if (tensor := ref()) is not None}
        named = self._cast.names.of_kind(nn.Parameter)
        loose: dict[str, torch.Tensor] = {
            name: p for name, p in named if id(p) not in owned | held and p.requires_grad and self._grew(p)
        }
        if not loose:
            return
        inside = {id(part) for _, module in self._cast.names.of_kind(nn.Module) for part in parameters_of(module)}
        loose = {name: p for name, p in loose.items() if id(p) not in inside}
        if loose and not self._all_owned_elsewhere(loose):
            self._tell(LOOSE, loose, owned=0, training=True)

    def _tell(self, model: str, unowned: dict[str, torch.Tensor], *, owned: int, training: bool) -> None:
        if self._recorder is None:
            return
        self._looks[model] = self._looks.get(model, 0) + 1
        self._recorder.add(
            UnownedGradientsRecord(
                model=model,
                step=self._recorder.step,
                parameters=tuple(unowned),
                changed=self._changed(unowned),
                owned=owned,
                training=training,
                scores=not (self._scorers or set()).isdisjoint(map(id, unowned.values())),
            )
        )

    def _grew(self, parameter: torch.Tensor) -> bool:
        """Whether the parameter's gradient is new or was added to since the last look."""
        gradient = parameter.grad
        if gradient is None:
            return False
        ref, version = self._received.get(id(parameter), (None, -1))
        same = ref is not None and ref() is gradient  # by itself: a new gradient often lies where the old one lay
        self._received[id(parameter)] = (weakref.ref(gradient), gradient._version)
        return not same or version != gradient._version

    def _all_owned_elsewhere(self, unowned: dict[str, torch.Tensor]) -> bool:
        """Drop what an optimizer owns that has not stepped yet but is there, as the other half of a GAN."""
        for _, optimizer in self._cast.names.of_kind(torch.optim.Optimizer):
            theirs = {id(tensor) for group in optimizer.param_groups for tensor in group["params"]}
            for name in [name for name, parameter in unowned.items() if id(parameter) in theirs]:
                del unowned[name]
        return not unowned

    def _is_copy(self, parameters: dict[str, torch.Tensor], owned: set[int]) -> bool:
        """Whether these are the weights of another model, which is trained, as they were a while ago: a target's."""
        values = [parameter.detach() for parameter in parameters.values()]
        for model in self._cast.models:
            theirs = [tensor for ref in model.parameters.values() if (tensor := ref()) is not None]
            trained = all(id(each) in owned for each in theirs) and any(each.grad is not None for each in theirs)
            if not trained or [(e.shape, e.device) for e in theirs] != [(e.shape, e.device) for e in values]:
                continue
            apart = norms([mine - each.detach() for mine, each in zip(values, theirs, strict=True)])
            if math.hypot(*apart) < NEAR * math.hypot(*norms(values)):
                return True
        return False

    def _changed(self, unowned: dict[str, torch.Tensor]) -> tuple[str, ...]:
        """Return the names of parameters whose length is not what it was at the first look."""
        lengths = dict(zip(unowned, norms([parameter.detach() for parameter in unowned.values()]), strict=True))
        return tuple(name for name, length in lengths.items() if self._lengths.setdefault(name, length) != length)
