"""This file is the modules' ranges: which module has which, by its model's name and its path."""

import weakref
from collections.abc import Mapping
from types import FrameType
from typing import Any

from torch import nn

from torchmagic.probes.module_parts import named_modules_of, uncompiled
from torchmagic.probes.names import Names
from torchmagic.probes.taps import Taps
from torchmagic.profiling.collected import MODULE, ModuleSite
from torchmagic.profiling.ranges import Range, Ranges


class ModuleRanges:
    """Gives each module that runs its range.

    All modules of a model get theirs as the model is met. One that is in no model's tree, as in a plain list, goes by
    its class in the module that calls it.

    Args:
        ranges: Makes the ranges.
        namespace: The user's names.

    Attributes:
        sites: The modules, by the index in their ranges' names.
    """

    def __init__(self, ranges: Ranges, namespace: Mapping[str, Any]) -> None:
        self.sites: list[ModuleSite] = []
        self._ranges, self._names = ranges, Names(namespace)
        self._by_site: dict[tuple[str, str, str], Range] = {}
        self._roots: dict[str, weakref.ref[nn.Module]] = {}
        self._refs: dict[int, weakref.ref[nn.Module]] = {}

    def meet(self, taps: Taps, module: nn.Module, frame: FrameType) -> None:
        """Find a range for a module that has none."""
        ranges, caller = taps.ranges, self._caller()
        if ranges is None:
            return
        if caller is None:
            root, name = self._names.of_model(module, frame)
            name = self._unused(name, root)
            for path, part in named_modules_of(uncompiled(root)):
                self._give(ranges, part, name, path)
            if id(module) not in ranges:
                self._give(ranges, module, name, "")
            self._give(ranges, root, name, "")
        else:
            path = f"{caller.path}.{type(module).__name__}()".lstrip(".")
            self._give(ranges, module, caller.model, path)

    def _caller(self) -> ModuleSite | None:
        """Return the innermost module that runs at present."""
        for each, _ in reversed(self._ranges.standing):
            if each.name.startswith(MODULE):
                return self.sites[int(each.name.removeprefix(MODULE))]
        return None

    def _unused(self, name: str, root: nn.Module) -> str:
        """Return a model's name, with a number behind it where another model that still lives has that name."""
        number, chosen = 1, name
        while (known := self._roots.get(chosen)) is not None and known() not in (None, root):
            number += 1
            chosen = f"{name}#{number}"
        self._roots[chosen] = weakref.ref(root)
        return chosen

    def _give(self, ranges: dict[int, Range], module: nn.Module, model: str, path: str) -> None:
        known = id(module)
        class_name = type(uncompiled(module)).__name__
        made = self._by_site.get((model, path, class_name))
        if made is None:
            made = self._ranges.make(f"{MODULE}{len(self.sites)}")
            self._by_site[model, path, class_name] = made
            self.sites.append(ModuleSite(model, path, class_name, _dtype(module)))
        ranges[known] = made

        def forget(_: object) -> None:  # another module may get the same identity
            ranges.pop(known, None)
            self._refs.pop(known, None)

        self._refs[known] = weakref.ref(module, forget)


def _dtype(module: nn.Module) -> str:
    own = [parameter for parameter in module._parameters.values() if parameter is not None]
    return str(own[0].dtype).removeprefix("torch.") if own else ""
