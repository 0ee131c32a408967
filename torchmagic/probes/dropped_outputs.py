"""This file is the outputs that are dropped: what an active dropout gave, and a loss was given as it was."""

import weakref
from typing import Any

import torch
from torch import nn

from torchmagic.probes.cast import Cast
from torchmagic.probes.sites import Site, place_of, site_of
from torchmagic.records.structure import DroppedOutputRecord
from torchmagic.session.recorder import Recorder

# Layers that set single values to zero; those that drop whole channels end no model.
DROPPING = (nn.Dropout, nn.AlphaDropout)


class DroppedOutputs:
    """Takes note of dropouts and losses that are looked at.

    Args:
        cast: Knows the paths of modules.
    """

    def __init__(self, cast: Cast) -> None:
        self._cast = cast
        # Of each output in this step: the tensor, its version, and the dropout.
        self._made: dict[int, tuple[weakref.ref[torch.Tensor], int, nn.Module]] = {}
        self._found: dict[tuple[str, str], tuple[float, int, Site | None, list[int]]] = {}

    def see(self, module: nn.Module, output: torch.Tensor) -> None:
        """Take in what a module gave."""
        if isinstance(module, DROPPING) and module.training and 0.0 < module.p < 1.0:
            self._made[id(output)] = weakref.ref(output), output._version, module

    def lost(self, name: str, given: Any, frame: Any, step: int) -> None:
        """Take in what a loss was given: the very tensor, or a view of it."""
        if not isinstance(given, torch.Tensor):
            return
        for each in (given, given._base):
            made = self._made.get(id(each))
            if made is None or made[0]() is not each or made[1] != given._version:
                continue
            path = self._cast.path_of(made[2])
            if path is not None:
                self._found.setdefault((path, name), (float(made[2].p), step, site_of(frame), []))[3].append(step)  # type: ignore[arg-type] # a dropout has one
            return

    def clear(self) -> None:
        """Forget the step's tensors."""
        self._made.clear()

    def record(self, recorder: Recorder) -> None:
        """Hand over what was found, as the run ends."""
        self.clear()
        for (path, name), (probability, step, site, seen) in self._found.items():
            recorder.add(
                DroppedOutputRecord(
                    module=path, probability=probability, loss=name, step=step, count=len(seen), place=place_of(site)
                )
            )
