"""This file watches trainable tensors that a loss reaches although no model registered them."""

import weakref
from collections.abc import Iterator, Sequence
from types import FrameType
from typing import Any

import torch
from torch import nn

from torchmagic.probes.attributes import held, tensors_of
from torchmagic.probes.cast import Cast
from torchmagic.probes.cut_places import Code
from torchmagic.probes.module_parts import named_modules_of, parameters_of
from torchmagic.probes.reach import Reach
from torchmagic.probes.sites import Site, is_torchs, is_users, user_frame
from torchmagic.probes.taps import Taps
from torchmagic.probes.unregistered import Making, Stray
from torchmagic.session.recorder import Recorder
from torchmagic.tensors.reduce import norms

# Modules made inside forwards that are kept until the next backward.
MOST_BUILT = 64


class Strays:
    """Records ``UnregisteredRecord`` and ``MadeInForwardRecord`` once the run is over."""

    def __init__(self, cast: Cast, reach: Reach) -> None:
        self._cast = cast
        self._code = Code(cast.names)
        self._recorder: Recorder | None = None
        self._taps: Taps | None = None
        self._built: list[tuple[nn.Module, Site, str]] = []
        self._strays: dict[tuple[str, str, str], Stray] = {}
        self._makings: dict[Site, Making] = {}
        self._fresh = False
        self._weightless: set[type] = set()
        reach.lookers.append(self._look)

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Listen for modules that are made."""
        self._recorder, self._taps = recorder, taps
        taps.on("module_built", self._build)

    def flush(self, step: int) -> None:
        """Ask who owns what was found, now that the step's optimizer is known."""
        if self._built:
            self._count_made()
        if self._fresh or (self._strays and step & (step - 1) == 0):
            self._fresh = False
            self._judge()

    def detach(self) -> None:
        """Record what was found, and let go of everything."""
        recorder, self._recorder = self._recorder, None
        self._built.clear()
        if recorder is None:
            return
        if self._strays:
            self._judge()
        if not recorder.step and not self._strays:
            self._hold_without_running()
        scopes = self._code.read() if self._strays else []
        for stray in self._strays.values():
            recorder.add(stray.record(scopes))
        for making in self._makings.values():
            if making.reached:
                recorder.add(making.record())
        self._strays.clear()

    def _build(self, module: nn.Module, frame: FrameType) -> None:
        taps = self._taps
        if taps is None or not taps.stack or not taps.grad_enabled:
            return
        if type(module) in self._weightless or len(self._built) >= MOST_BUILT:
            return
        user = _maker(frame)
        if user is not None:
            root = taps.stack[0]
            name = self._cast.path_of(taps.stack[-1]) or self._cast.path_of(root) or type(root).__name__
            taps.listeners.unlike()  # what was made is counted as the step ends
            self._built.append((module, Site(user.f_code, user.f_lineno), name))

    def _look(
        self, roots: Sequence[torch.Tensor], nodes: Sequence[Any], leaves: Sequence[torch.Tensor], frame: FrameType
    ) -> None:
        """Look for leaves of a graph that belong to no model."""
        known = self._registered()
        unknown = {id(leaf): leaf for leaf in leaves if id(leaf) not in known}
        if not unknown:
            return
        for module, site, name in self._built:
            mine = [parameter for parameter in parameters_of(module) if id(parameter) in unknown]
            for parameter in mine:
                self._making(module, site, name).reached = True
                del unknown[id(parameter)]
        if unknown:
            self._count_held(unknown)

    def _count_made(self) -> None:
        """Count the lines that made modules with weights in the step's forwards, and let go of these."""
        counted = {}
        for module, site, name in self._built:
            if next(parameters_of(module), None) is not None:
                counted[site] = self._making(module, site, name)
            elif is_torchs(type(module)):  # the user's own may get weights as they like
                self._weightless.add(type(module))
        for making in counted.values():
            making.num_calls += 1
        self._built.clear()

    def _making(self, module: nn.Module, site: Site, name: str) -> Making:
        making = self._makings.get(site)
        if making is None:
            step = self._recorder.step if self._recorder is not None else 0
            making = self._makings[site] = Making(model=name, class_name=type(module).__name__, site=site, step=step)
        return making

    def _count_held(self, unknown: dict[int, torch.Tensor]) -> None:
        reached = set()
        for key, stray, tensor in self._held():
            if id(tensor) in unknown:
                known = self._strays.setdefault(key, stray)
                known.refs.setdefault(id(tensor), weakref.ref(tensor))
                reached.add(key)
        for key in reached:
            self._strays[key].looks += 1
            self._fresh = True
        if reached and self._taps is not None:
            self._taps.listeners.unlike()

    def _hold_without_running(self) -> None:
        """Take in what models hold that have no parameter at all: no optimizer can be built for them."""
        for key, stray, tensor in self._held(bare=True):
            self._strays.setdefault(key, stray).refs.setdefault(id(tensor), weakref.ref(tensor))

    def _modules(self) -> Iterator[tuple[str, nn.Module]]:
        """Yield the models by name: those that ran, then those that the user has names for."""
        roots = [(model.name, root) for model in self._cast.models if (root := model.ref()) is not None]
        seen = {id(root) for _, root in roots}
        yield from roots
        for name, module in self._cast.names.of_kind(nn.Module):
            if id(module) not in seen:
                yield name, module

    def _held(self, *, bare: bool = False) -> Iterator[tuple[tuple[str, str, str], Stray, torch.Tensor]]:
        """Yield the trainable tensors that attributes hold without registering them."""
        for name, root in self._modules():
            if bare and next(parameters_of(root), None) is not None:
                continue
            self._code.learn(root)
            own = {id(parameter) for parameter in parameters_of(root)}  # functions may name what is registered
            for path, module in named_modules_of(root):
                full = f"{name}.{path}" if path else name
                for attribute, variable, value in held(module):
                    for holder, tensor in tensors_of(value):
                        if variable and id(tensor) in own:
                            continue
                        stray = Stray(
                            module=full,
                            attribute=attribute,
                            variable=variable,
                            container=type(value).__name__,
                            class_name=holder,
                            owner=type(module),
                        )
                        yield (full, attribute, variable), stray, tensor

    def _registered(self) -> set[int]:
        """Return the parameters of models that a name leads to; one that is called out of a list is none of them."""
        named = {id(module) for _, module in self._cast.names.of_kind(nn.Module)}
        models = (model for model in self._cast.models if id(model.ref()) in named)
        refs = (ref for model in models for ref in model.parameters.values())
        return {id(tensor) for ref in refs if (tensor := ref()) is not None}

    def _judge(self) -> None:
        """Ask of each find who owns it, and whether it changes."""
        owned = {id(tensor) for entry in self._cast.optimizers for ref in entry.refs if (tensor := ref()) is not None}
        for _, optimizer in self._cast.names.of_kind(torch.optim.Optimizer):
            owned |= {id(tensor) for group in optimizer.param_groups for tensor in group["params"]}
        modules = list(self._cast.names.of_kind(nn.Module))
        registered = self._registered()
        for stray in self._strays.values():
            tensors = {key: tensor for key, ref in stray.refs.items() if (tensor := ref()) is not None}
            if not tensors:
                continue
            others = (each for name, each in modules if stray.attribute or name.partition("[")[0] != stray.variable)
            elsewhere = {id(parameter) for module in others for parameter in parameters_of(module)} | registered
            stray.owned = max(stray.owned, len(owned & set(tensors)))
            stray.registered = max(stray.registered, len(elsewhere & set(tensors)))
            lengths = dict(zip(tensors, norms([each.detach() for each in tensors.values()]), strict=True))
            stray.changed = stray.changed or any(stray.lengths.setdefault(k, v) != v for k, v in lengths.items())


def _maker(frame: FrameType) -> FrameType | None:
    """Return the user's frame that makes a module: the first that is no constructor."""
    found: FrameType | None = frame
    while found is not None and (found.f_code.co_name == "__init__" or not is_users(found)):
        found = found.f_back
    return user_frame(found)
