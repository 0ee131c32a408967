"""This file is the cast: which models and optimizers take part, and what their parts are called."""

import weakref
from collections.abc import Mapping
from types import FrameType
from typing import Any

import torch
from torch import nn

from torchmagic.probes.at_work import AtWork
from torchmagic.probes.left_out import LeftOut
from torchmagic.probes.members import ByHand, Model, Optimizer, is_lazy, is_trained, present
from torchmagic.probes.module_parts import buffers_of, is_compiled, parameters_of
from torchmagic.probes.names import Names, unused
from torchmagic.probes.pacing import next_look
from torchmagic.probes.sites import place_of, site_of
from torchmagic.probes.taps import Taps
from torchmagic.records.loop import BY_HAND
from torchmagic.records.model import ModelRecord, OptimizerRecord, ParameterRecord
from torchmagic.records.note import NoteRecord
from torchmagic.session.recorder import Recorder
from torchmagic.tensors.reduce import packs_well

NEVER = -1
COMPILED = (
    "{} is compiled: losses, gradients, weights and steps are seen; layers inside it, and the operator that makes a "
    "non-finite value there, are not."
)


class Cast:
    """Discovers models and optimizers as they run.

    Args:
        namespace: The user's names.
        only: Name of the only model to watch; empty for all.

    Attributes:
        current: The model that was called last.
        called: The same, or None where the newest outermost call was none of a model that is watched.
        learned_at: The step of the newest outermost call with gradients switched on.
        by_module, by_optimizer, untold: What is known of outermost modules, of optimizers; of which nothing is told.
    """

    def __init__(self, namespace: Mapping[str, Any], *, only: str = "") -> None:
        self.names = Names(namespace)
        self.models: list[Model] = []
        self.optimizers: list[Optimizer] = []
        self.at_work = AtWork()
        self.current: Model | None = None
        self.called: Model | None = None
        self.learned_at = NEVER
        self._left_out = LeftOut(only)
        self.by_module: dict[int, tuple[weakref.ref[nn.Module], Model | None]] = {}
        self.by_optimizer: dict[int, Optimizer] = {}
        self._recorder: Recorder | None = None
        self._taps: Taps | None = None
        self.next_look = 0  # for new parameters
        self.untold: list[tuple[Optimizer, Any]] = []  # by a closure: what they train is not known yet

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Listen for models and optimizers."""
        self._recorder, self._taps = recorder, taps
        taps.turn.partings.append(self._part)
        taps.on("root_begin", self._meet)
        taps.on("step_begin", self._meet_optimizer)

    def flush(self, step: int) -> None:
        """Look for new parameters now and then: at steps that are powers of two."""
        if self.untold:
            self._tell_optimizers()
        if step >= self.next_look:
            self.next_look = next_look(step)
            for model in present(self.models):
                self._record_parameters(model, model.read())

    def detach(self) -> None:
        """Say who was left out, and let go of everything."""
        self._tell_optimizers()
        self.by_module.clear()
        if self._taps is not None and self._recorder is not None:
            for line in self._left_out.told(num_refused=self._taps.turn.num_refused):
                self._recorder.add(NoteRecord(text=line))
            self._taps = None

    def _part(self) -> None:
        """Let go of what another thread may train from now on: its gradients must not be read here meanwhile."""
        for model in self.models:
            model.part()
        for entry in self.optimizers:
            entry.part()
        self.by_module.clear()
        self.by_optimizer.clear()
        self._wake()

    def model_of(self, module: nn.Module) -> Model | None:
        """Return the model a root call belongs to; None when it has no parameters or is not watched."""
        known = self.by_module.get(id(module))
        return known[1] if known is not None and known[0]() is module else None

    def path_of(self, module: nn.Module) -> str | None:
        """Return the path of a module of any model, or None."""
        paths = (model.path_of(module) for model in present(self.models))
        return next((path for path in paths if path is not None), None)

    def optimizer(self, optimizer: torch.optim.Optimizer | ByHand) -> Optimizer:
        """Return what is known of an optimizer that steps, or of what stands for one."""
        return self.by_optimizer[id(optimizer)]

    def _meet(self, module: nn.Module, args: Any, kwargs: Any, frame: FrameType) -> None:
        known = self.by_module.get(id(module))
        if known is None or known[0]() is not module:
            known = (weakref.ref(module), self._discover(module, frame))
            self.by_module[id(module)] = known
        self.called = model = known[1]
        if model is not None:
            self.current = model
        if self._taps is not None and self._taps.grad_enabled:
            self.learned_at = self._taps.listeners.step

    def _discover(self, module: nn.Module, frame: FrameType) -> Model | None:
        if next(parameters_of(module), None) is None:
            return None
        for model in present(self.models):
            if model.path_of(module) is not None and model.ref() is not None:
                return model
        root, name = self.names.of_model(module, frame)
        if self._left_out.has(name):
            return None
        names = {model.name for model in self.models if model.ref() is not None and model.ref() is not root}
        model = Model(root, unused(name, names))
        self.models = [each for each in self.models if each.ref() is not root]
        self.models.append(model)
        self._wake()
        self._record_model(model, root)
        self._record_parameters(model, model.read())
        for entry in self.at_work.members:  # one that steps by a closure is met before the model that it trains
            if (optimizer := entry.ref()) is not None:
                self._read_optimizer(entry, optimizer)
        self._tell_optimizers()
        return model

    def _wake(self) -> None:
        """Have every probe look again: who rests has not seen what is new."""
        if self._taps is not None:
            self._taps.listeners.wake(everybody=True)

    def _record_model(self, model: Model, module: nn.Module) -> None:
        if self._recorder is None:
            return
        if compiled := is_compiled(module):
            self._recorder.add(NoteRecord(text=COMPILED.format(model.name)))
        parameters = list(parameters_of(module))
        tensors = [*parameters, *buffers_of(module)]
        self._recorder.add(
            ModelRecord(
                name=model.name,
                class_name=model.class_name,
                num_parameters=sum(p.numel() for p in parameters if not is_lazy(p)),
                num_trainable=sum(p.numel() for p in parameters if is_trained(p) and not is_lazy(p)),
                num_bytes=sum(t.numel() * t.element_size() for t in tensors if not is_lazy(t)),
                compiled=compiled,
            )
        )

    def _record_parameters(self, model: Model, names: list[str]) -> None:
        if self._recorder is None:
            return
        for name in names:
            value = model.parameters[name]()
            if value is not None:
                self._recorder.add(
                    ParameterRecord(
                        name=name,
                        model=model.name,
                        module=name.rpartition(".")[0],
                        shape=tuple(value.shape),
                        dtype=str(value.dtype).removeprefix("torch."),
                        device=str(value.device),
                        trainable=value.requires_grad,
                    )
                )

    def _meet_optimizer(self, optimizer: torch.optim.Optimizer, frame: FrameType) -> None:
        entry = self.by_optimizer.get(id(optimizer))
        if entry is None or entry.ref() is not optimizer:
            site = site_of(frame)
            taken = self.at_work.names_beside(optimizer)
            entry = Optimizer(optimizer, self.names.of_optimizer(optimizer, frame, taken=taken))
            self.by_optimizer[id(optimizer)] = entry
            self.optimizers.append(entry)
            self.at_work.step(entry)
            self._wake()
            self._read_optimizer(entry, optimizer)
            self.untold.append((entry, site))
            if not all(name.startswith(f"{entry.name}[") for name in entry.names):
                self._tell_optimizers()
            return
        self.at_work.step(entry)
        groups = optimizer.param_groups
        num_parameters = len(groups[0]["params"]) if len(groups) == 1 else sum([len(each["params"]) for each in groups])
        if entry.seen != (num_parameters, len(self.models)):
            self._read_optimizer(entry, optimizer)

    def _read_optimizer(self, entry: Optimizer, optimizer: torch.optim.Optimizer) -> None:
        tensors = [tensor for group in optimizer.param_groups for tensor in group["params"]]
        later = {id(tensor) for tensor in tensors} if entry.is_new and self._recorder and self._recorder.step else set()
        for model in present(self.models):  # one that gets another optimizer may have got other layers before
            own = later and (model is self.current or any(id(ref()) in later for ref in model.parameters.values()))
            if model.lends or own:
                self._record_parameters(model, model.read())
        known = self.names.with_loose(self.known(), tensors)
        entry.seen = len(tensors), len(self.models)  # what decides the names
        entry.refs, entry.packs = [weakref.ref(tensor) for tensor in tensors], packs_well(tensors)
        entry.names = tuple(known.get(id(tensor)) or f"{entry.name}[{i}]" for i, tensor in enumerate(tensors))

    def known(self) -> dict[int, str]:
        """Return the names of the models' parameters, by identity."""
        return {id(ref()): name for model in present(self.models) for name, ref in model.parameters.items()}

    def stand_in(self, by_hand: ByHand) -> None:
        """Name what a loop trains without an optimizer: as a model has it, else by the variable that holds it."""
        known = self.known()
        known |= self.names.of_tensors([leaf for leaf in by_hand.leaves if id(leaf) not in known])
        places = {identity: place for place, identity in enumerate(known)}
        leaves = sorted(by_hand.leaves, key=lambda leaf: places.get(id(leaf), len(places)))
        by_hand.refs = [weakref.ref(leaf) for leaf in leaves]
        entry = self.by_optimizer[id(by_hand)] = Optimizer(by_hand, BY_HAND)
        entry.refs, entry.packs = list(by_hand.refs), packs_well(leaves)
        entry.names = tuple(known.get(id(leaf)) or f"tensor {i}" for i, leaf in enumerate(leaves))
        self.at_work.stand_ins = [entry]

    def _tell_optimizers(self) -> None:
        untold, self.untold = self.untold, []
        for entry, site in untold:
            if (optimizer := entry.ref()) is not None:
                self._record_optimizer(entry, optimizer, site)

    def _record_optimizer(self, entry: Optimizer, optimizer: torch.optim.Optimizer, site: Any) -> None:
        if self._recorder is not None:
            self._recorder.add(
                OptimizerRecord(
                    name=entry.name,
                    class_name=entry.class_name,
                    lr=tuple(float(group.get("lr") or 0.0) for group in optimizer.param_groups),
                    parameters=entry.names,
                    place=place_of(site),
                )
            )
