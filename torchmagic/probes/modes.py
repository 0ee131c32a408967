"""This file watches training and evaluation mode: which modules were in the wrong one while a step was trained."""

from types import FrameType
from typing import Any

import torch
from torch import nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.modules.dropout import _DropoutNd
from torch.nn.modules.instancenorm import _InstanceNorm

from torchmagic.probes.cast import Cast
from torchmagic.probes.members import Model
from torchmagic.probes.module_parts import is_training, modules_of, named_modules_of, own_parameters_of, parameters_of
from torchmagic.probes.own_train import is_put_to_sleep, own_train, switching
from torchmagic.probes.pacing import next_window
from torchmagic.probes.sites import Site, place_of, site_of
from torchmagic.probes.taps import Taps
from torchmagic.records.protocol import EvalModeRecord
from torchmagic.session.recorder import Recorder

# Enough records to convince a rule.
MOST_RECORDS = 12
# After so many steps in which all was well, looks are so many steps apart and later more, or a mode is switched.
FIRST_STEPS, BETWEEN_LOOKS = 16, 32
_Forward = tuple[Model, list[tuple[str, nn.Module, nn.Module]], Site | None]


class _Switches:
    """Remembers the line that last put each module into evaluation mode, and wakes the probe when one switches."""

    def __init__(self, taps: Taps, modes: "Modes") -> None:
        self._taps, self._modes = taps, modes
        self.last: dict[int, Site | None] = {}
        self.meant: set[int] = set()  # modules that the model's own ``train`` puts to sleep

    def see(self, module: nn.Module, training: bool, frame: FrameType) -> None:  # noqa: FBT001 - an event
        """Take in a call of ``train`` or ``eval``."""
        self._taps.listeners.wake_up(self._modes)
        if not training:
            site, meant = switching(frame)
            for part in modules_of(module):
                self.last[id(part)] = site
                (self.meant.add if meant else self.meant.discard)(id(part))


class Modes:
    """Records ``EvalModeRecord`` for a step whose forward ran dropout or batch norm in evaluation mode."""

    def __init__(self, cast: Cast, taps: Taps) -> None:
        self._cast, self._taps = cast, taps
        self._recorder: Recorder | None = None
        self._switches = _Switches(taps, self)
        self._sensitive: dict[int, tuple[int, list[tuple[str, nn.Module, nn.Module]]]] = {}
        self._forwards: dict[int, _Forward] = {}
        self._trained: dict[int, _Forward] = {}
        self._records = 0

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Listen for calls of models, switches of mode and steps."""
        self._recorder = recorder
        taps.on("mode", self._switches.see)
        taps.on("root_begin", self._forward)
        taps.on("backward_begin", self._backward)
        taps.on("step_end", self._stepped)

    def flush(self, step: int) -> None:
        """Forget the step's forwards; rest where all is well, until a mode is switched."""
        well = not self._forwards and not self._trained
        self._forwards.clear()
        self._trained.clear()
        if well and step >= FIRST_STEPS:
            self._taps.rest(self, until=next_window(step, width=BETWEEN_LOOKS))

    def detach(self) -> None:
        """Let go of everything."""
        self.flush(0)
        self._sensitive.clear()

    def _forward(self, module: nn.Module, args: Any, kwargs: Any, frame: FrameType) -> None:
        model = self._cast.model_of(module)
        if model is None or not self._taps.grad_enabled or self._records >= MOST_RECORDS:
            return
        asleep = [each for each in self._parts(module, model) if not is_training(each[1])]
        for known in (self._forwards, self._trained):  # what counts is the last forward before the backward
            known.pop(id(module), None)
        if asleep:
            self._forwards[id(module)] = (model, asleep, site_of(frame))

    def _backward(self, tensors: Any, frame: FrameType) -> None:
        """Only a forward that a backward follows trains; one between backward and step may be a look at the result."""
        self._trained.update(self._forwards)
        self._forwards.clear()

    def _parts(self, module: nn.Module, model: Model) -> list[tuple[str, nn.Module, nn.Module]]:
        """Return path, module and parent of each module that behaves differently in training."""
        known = self._sensitive.get(id(module))
        if known is None or known[0] != len(model.paths):
            parts: dict[str, nn.Module] = dict(named_modules_of(module))
            found: list[tuple[str, nn.Module, nn.Module]] = [
                (model.paths.get(id(part), path), part, _trainable_parent(parts, path, module))
                for path, part in parts.items()
                if depends_on_mode(part)
            ]
            self._sensitive[id(module)] = (len(model.paths), found)
            return found
        return known[1]

    def _stepped(self, optimizer: torch.optim.Optimizer, nanoseconds: int) -> None:
        if not self._trained or self._recorder is None:
            return
        updated = {
            id(tensor)
            for ref in self._cast.optimizer(optimizer).refs
            if (tensor := ref()) is not None and tensor.grad is not None
        }
        for model, asleep, site in self._trained.values():
            meant = [
                (path, part)
                for path, part, parent in asleep
                if id(part) not in self._switches.meant and _trains(part, parent, updated)
            ]
            root = model.ref()
            if meant and root is not None and (id(meant[0][1]) in self._switches.last or not is_put_to_sleep(root)):
                self._records += 1
                own, defined = own_train(root)
                self._recorder.add(
                    EvalModeRecord(
                        model=model.name,
                        step=self._recorder.step,
                        modules=tuple(path for path, _ in meant),
                        class_names=tuple(type(part).__name__ for _, part in meant),
                        forward=place_of(site),
                        switched=place_of(self._switches.last.get(id(meant[0][1]))),
                        own_train=own,
                        train=defined,
                    )
                )


def depends_on_mode(module: nn.Module) -> bool:
    """Whether a module behaves differently in training and evaluation."""
    if isinstance(module, _DropoutNd):
        return module.p > 0
    if isinstance(module, nn.MultiheadAttention):
        return bool(module.dropout > 0)
    if isinstance(module, nn.RNNBase):
        return bool(module.dropout > 0 and module.num_layers > 1)
    return moves_statistics(module)


def moves_statistics(module: nn.Module) -> bool:
    """Whether each forward in training mode moves the running statistics of a module."""
    return isinstance(module, (_BatchNorm, _InstanceNorm)) and module.track_running_stats


def awake_parts(module: nn.Module, model: Model, most: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the paths of the modules that are in training mode and care, and of those that move their statistics."""
    parts = [part for part in modules_of(module) if is_training(part) and depends_on_mode(part)]
    norms = [part for part in parts if moves_statistics(part)]
    paths = [[model.paths.get(id(part), type(part).__name__) for part in each[:most]] for each in (parts, norms)]
    return tuple(paths[0]), tuple(paths[1])


def is_alone(module: nn.Module) -> bool:
    """Whether a module is in evaluation mode, and none of its parts, those that do not care among them."""
    parts = [part for part in modules_of(module) if part is not module]
    if module.training or not all(map(is_training, parts)):
        return False
    return any(not depends_on_mode(part) for part in parts)  # else somebody may have woken dropout alone


def _trainable_parent(parts: dict[str, nn.Module], path: str, root: nn.Module) -> nn.Module:
    """Return the nearest module around a module that has parameters."""
    while path:
        path = path.rpartition(".")[0]
        parent = parts.get(path, root)
        if next(parameters_of(parent), None) is not None:
            return parent
    return root


def _trains(part: nn.Module, parent: nn.Module, updated: set[int]) -> bool:
    """Whether the step updated the module's own parameters, or, where it has none, its parent's."""
    own = own_parameters_of(part) or list(parameters_of(parent))
    return any(id(parameter) in updated for parameter in own)
