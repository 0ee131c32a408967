"""This file is the outputs that are dropped: what an active dropout gave, and a loss was given as it was."""

import weakref
from dataclasses import replace
from typing import Any

import torch
from torch import nn

from torchmagic.probes.cast import Cast
from torchmagic.probes.sites import place_of, site_of
from torchmagic.records.structure import DroppedOutputRecord
from torchmagic.session.recorder import Recorder

# Layers that set single values to zero; those that drop whole channels end no model.
Dropping = nn.Dropout | nn.AlphaDropout


class DroppedOutputs:
    """Takes note of dropouts and losses that are looked at.

    Args:
        cast: Knows the paths of modules.
    """

    def __init__(self, cast: Cast) -> None:
        self._cast = cast
        # Of each output in this step: the tensor, its version, and the dropout.
        self._made: dict[int, tuple[weakref.ref[torch.Tensor], int, Dropping]] = {}
        self._found: dict[tuple[str, str], DroppedOutputRecord] = {}

    def see(self, module: nn.Module, output: torch.Tensor) -> None:
        """Take in what a module gave."""
        if isinstance(module, Dropping) and module.training and 0.0 < module.p < 1.0:
            self._made[id(output)] = weakref.ref(output), output._version, module

    def lost(self, name: str, given: Any, frame: Any, step: int) -> None:
        """Take in what a loss was given: the very tensor, or a view of it."""
        if not isinstance(given, torch.Tensor):
            return
        for each in (given, given._base):
            made = self._made.get(id(each))
            if made is not None and made[0]() is each and made[1] == given._version:
                self._find(made[2], name, frame, step)
                return

    def _find(self, module: Dropping, name: str, frame: Any, step: int) -> None:
        path = self._cast.path_of(module)
        if path is None:
            return
        place = place_of(site_of(frame))
        found = self._found.get((path, name)) or DroppedOutputRecord(
            module=path, probability=float(module.p), loss=name, step=step, count=0, place=place
        )
        self._found[path, name] = replace(found, count=found.count + 1)

    def clear(self) -> None:
        """Forget the step's tensors."""
        self._made.clear()

    def record(self, recorder: Recorder) -> None:
        """Hand over what was found, as the run ends."""
        self.clear()
        for record in self._found.values():
            recorder.add(record)
