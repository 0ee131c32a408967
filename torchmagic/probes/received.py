"""This file watches which parameters of optimizers never receive a gradient, and whether their modules run."""

from collections.abc import Sequence
from types import FrameType
from typing import Any

import torch
from torch import nn

from torchmagic.analyses.scopes import Scope, is_dropped
from torchmagic.probes.cast import Cast
from torchmagic.probes.cut_places import Code, before_step, part_cuts, place_of_cut
from torchmagic.probes.executed import Executed, parts_of
from torchmagic.probes.gradient_flow import MOST_NAMES, Flow, subtrees
from torchmagic.probes.members import Optimizer
from torchmagic.probes.module_parts import named_parameters_of, uncompiled
from torchmagic.probes.pacing import FIRST_STEPS, next_look
from torchmagic.probes.sites import place_of, site_of
from torchmagic.probes.taps import Taps
from torchmagic.records.connection import DROPPED, UnreachedRecord
from torchmagic.records.place import Place
from torchmagic.session.recorder import Recorder

# Parts told of in one run.
MOST_PARTS = 16
# Steps in which gradients are looked for after each backward as well, before somebody may have cleared them.
CLOSE_STEPS = 16


class Received:
    """Records ``GradientFlowRecord`` and ``UnreachedRecord`` once the run is over.

    Where every parameter had its gradient, as in nearly all runs after the first step, the probe rests.
    """

    def __init__(self, cast: Cast) -> None:
        self._cast = cast
        self._code = Code(cast.names)
        self._executed = Executed(cast, self._code)
        self._recorder: Recorder | None = None
        self._taps: Taps | None = None
        self._flows: dict[int, Flow] = {}
        self._backwards = 0
        self._waits = False

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Listen for models that run, backward passes and steps."""
        self._recorder, self._taps = recorder, taps
        self._executed.attach(taps)
        taps.on("root_begin", self._called)
        taps.on("root_end", self._returned)
        taps.on("backward_end", self._backward)
        taps.on("step_begin", self._step_begins)

    def flush(self, step: int) -> None:
        """Look for gradients, and rest where nobody waits for one."""
        self._executed.end()
        again = step < FIRST_STEPS or step & (step - 1) == 0
        for entry in self._cast.optimizers:
            flow = self._flows.get(id(entry))
            if flow is not None:
                if again or flow.seen != entry.seen:
                    flow.take_in(entry, step, self._cast)
                if flow.waiting:
                    flow.look(step)
        self._waits = any(flow.waiting for flow in self._flows.values())
        if not self._waits and step >= FIRST_STEPS and self._taps is not None:
            self._taps.rest(self, until=next_look(step))

    def detach(self) -> None:
        """Record what was found, and let go of everything."""
        recorder, self._recorder = self._recorder, None
        if recorder is None:
            return
        self._executed.end()
        scopes = self._code.read() if any(flow.received for flow in self._flows.values()) and self._waits else []
        stepping = [flow.place for flow in self._flows.values() if flow.place is not None]
        for entry in self._cast.optimizers:
            flow = self._flows.pop(id(entry), None)
            if flow is not None:
                recorder.add(flow.record(entry.name, self._backwards))
                if flow.waiting and self._backwards:
                    for record in self._unreached(entry, flow, recorder.step, scopes, stepping):
                        recorder.add(record)

    def _step_begins(self, optimizer: torch.optim.Optimizer, frame: FrameType) -> None:
        entry = self._cast.optimizer(optimizer)
        flow = self._flows.get(id(entry))
        if flow is None:
            flow = self._flows[id(entry)] = Flow(place_of(site_of(frame)))
        flow.steps += 1

    def _backward(self, tensors: Any, nanoseconds: int) -> None:
        self._backwards += 1
        if self._waits and self._recorder is not None and self._recorder.step < CLOSE_STEPS:
            for flow in self._flows.values():
                if flow.waiting:
                    flow.look(self._recorder.step)

    def _called(self, module: nn.Module, args: Any, kwargs: Any, frame: FrameType) -> None:
        if self._waits:
            self._executed.begin(module, frame)

    def _returned(self, module: nn.Module, *_: Any) -> None:
        if self._waits:
            self._executed.returned(module)

    def _unreached(
        self, entry: Optimizer, flow: Flow, steps: int, scopes: list[Scope], stepping: Sequence[Place]
    ) -> list[UnreachedRecord]:
        """Return a record for each part that had no gradient, those of models first.

        Args:
            entry: The optimizer.
            flow: What is known of its gradients.
            steps: Steps of the run.
            scopes: The user's code.
            stepping: Lines at which optimizers step, this one's too.
        """
        flow.measure()
        flow.compare(self._held())
        elsewhere = self._names()
        waiting = {flow.names[key]: each for key, each in flow.waiting.items()}
        known = [name for model in self._cast.models for name in model.parameters] or list(flow.names.values())
        for key, each in flow.waiting.items():  # of a model that never ran, by the name that the user has for it
            name = elsewhere.get(key)
            if name is not None and each.ref() is not None and flow.names[key] not in known:
                waiting[name] = waiting.pop(flow.names[key])
        roots = [model.name for model in self._cast.models]
        found = []
        for path, whole, names in subtrees(list(waiting), [*known, *waiting], flow.frozen, roots)[:MOST_PARTS]:
            members = [waiting[name] for name in names]
            classes = next((self._executed.classes(root) for root in roots if path.startswith(root)), frozenset())
            ran = self._executed.times(path)
            if ran and not whole and self._is_torchs(path):
                continue  # what such a layer adds is lost where a loss is computed from derivatives
            dropped = ran and whole and is_dropped(scopes, path.split("."))
            hooks, behind = self._executed.hooks(path, waiting)
            known_by = path if whole else names[0]
            looked = scopes if ran and not dropped else []
            cuts, sure = part_cuts(looked, known_by, classes, hooks, behind) if looked else ([], True)
            cuts = before_step(cuts, flow.place, stepping)
            around = path.rpartition(".")[0]
            found.append(
                UnreachedRecord(
                    optimizer=entry.name,
                    module=path,
                    whole=whole,
                    parameters=tuple(names[:MOST_NAMES]),
                    num_parameters=len(names),
                    steps=min(flow.steps, max(steps - each.since for each in members)),
                    executed=ran,
                    changed=any(each.changed for each in members),
                    stepped_before=any(each.stepped_before for each in members),
                    varies=bool(around) and any(name.startswith(f"{around}.") for name in flow.late),
                    cut=place_of_cut(cuts[0] if cuts else None),
                    how=cuts[0].how if cuts else DROPPED if dropped else "",
                    sure=sure,
                    of_library=self._executed.forwards.are_librarys(path, whole=whole),
                )
            )
        return found

    def _is_torchs(self, path: str) -> bool:
        """Whether a path is that of one of torch's own layers, whose forward uses all that it has."""
        kinds = (type(part) for each, part in parts_of(self._cast) if each == path)
        return any(str(kind.__module__).startswith("torch.nn.modules.") for kind in kinds)

    def _held(self) -> dict[str, int]:
        """Return the identities of the parameters that the models have now, by their names."""
        alive = [(model.name, uncompiled(module)) for model in self._cast.models if (module := model.ref()) is not None]
        return {f"{name}.{path}": id(each) for name, module in alive for path, each in named_parameters_of(module)}

    def _names(self) -> dict[int, str]:
        """Return the names of the parameters of all modules that the user has names for."""
        return {
            id(parameter): f"{name}.{path}"
            for name, module in self._cast.names.of_kind(nn.Module)
            for path, parameter in named_parameters_of(module)
        }
