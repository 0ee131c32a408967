"""This file looks at evaluations that record a graph: forwards in evaluation mode that no backward follows."""

from collections.abc import Mapping
from types import FrameType
from typing import Any

import torch
from torch import nn
from torch.utils._pytree import tree_leaves

from torchmagic.probes.names import Names
from torchmagic.probes.probe import nothing_waits
from torchmagic.probes.sites import Site, place_of, site_of
from torchmagic.probes.taps import Taps
from torchmagic.probes.wrappers import now
from torchmagic.records.speed import EvaluationGraphRecord
from torchmagic.session.recorder import Recorder

# Outputs of a model that are asked whether they hold a graph.
MOST_OUTPUTS = 8


class _Line:
    """The forwards of one line in evaluation mode, with gradients on."""

    def __init__(self, model: str) -> None:
        self.model = model
        self.batches = self.nanoseconds = self.waiting = self.waiting_nanoseconds = 0
        self.trains = False

    def settle(self) -> None:
        """Take what waits for a backward as an evaluation."""
        self.batches += self.waiting
        self.nanoseconds += self.waiting_nanoseconds
        self.forget()

    def forget(self) -> None:
        """Let go of what waits for a backward."""
        self.waiting = self.waiting_nanoseconds = 0


class EvaluationGraphs:
    """Records an ``EvaluationGraphRecord`` for each line whose forwards were followed by training mode, or the end.

    A line after which a backward ran while a model was still in evaluation mode may be a part of the training, as a
    teacher or a frozen network is; of that one nothing is told.

    Args:
        namespace: The user's names.
    """

    def __init__(self, namespace: Mapping[str, Any]) -> None:
        self._names = Names(namespace)
        self._recorder: Recorder | None = None
        self._taps: Taps | None = None
        self._lines: dict[Site | None, _Line] = {}
        self._here: _Line | None = None
        self._began = 0

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Listen for models, switches of mode and backward passes."""
        self._taps, self._recorder, self._began = taps, recorder, now()
        taps.on("root_begin", self._begin)
        taps.on("root_end", self._end)
        taps.on("mode", self._switched)
        taps.on("backward_begin", self._trained)

    flush = nothing_waits

    def detach(self) -> None:
        """Hand over the lines, and let go of everything."""
        recorder, self._recorder = self._recorder, None
        for site, line in self._lines.items():
            line.settle()
            if recorder is not None and line.batches and not line.trains:
                recorder.add(
                    EvaluationGraphRecord(
                        model=line.model,
                        batches=line.batches,
                        seconds=line.nanoseconds / 1e9,
                        run_seconds=(now() - self._began) / 1e9,
                        place=place_of(site),
                    )
                )
        self._lines.clear()

    def _begin(self, module: nn.Module, args: Any, kwargs: Any, frame: FrameType) -> None:
        self._here = None
        if module.training or self._taps is None or not self._taps.grad_enabled:
            return
        asked = any(isinstance(each, torch.Tensor) and each.requires_grad for each in (*args, *kwargs.values()))
        site = site_of(frame)
        self._here = self._lines.get(site)
        if self._here is None:
            self._here = self._lines[site] = _Line(self._names.of_model(module, frame)[1])
        self._here.trains = self._here.trains or asked  # what is wanted is the gradient of the input

    def _end(self, module: nn.Module, args: Any, kwargs: Any, output: Any, nanoseconds: int) -> None:
        line, self._here = self._here, None
        leaves = tree_leaves(output)[:MOST_OUTPUTS] if line is not None else ()
        if line is not None and any(isinstance(each, torch.Tensor) and each.requires_grad for each in leaves):
            line.waiting += 1
            line.waiting_nanoseconds += nanoseconds

    def _switched(self, module: nn.Module, training: bool, frame: FrameType) -> None:  # noqa: FBT001 - an event
        if training:
            for line in self._lines.values():
                line.settle()

    def _trained(self, tensors: Any, frame: FrameType) -> None:
        for line in self._lines.values():
            line.trains = line.trains or line.waiting > 0
            line.forget()
