"""This file looks at optimizers: how they go through their parameters, and how gradients are reset."""

import inspect
import statistics
import weakref
from collections.abc import Mapping
from types import FrameType
from typing import Any

import torch
from torch import nn
from torch.optim import optimizer as optimizers

from torchmagic.probes.names import Names
from torchmagic.probes.pacing import next_look
from torchmagic.probes.sites import Site, place_of, site_of
from torchmagic.probes.taps import Taps
from torchmagic.records.speed import StepRecord, ZeroedRecord
from torchmagic.session.recorder import Recorder

# Resets looked at, of each line.
MOST_LOOKS = 4
# Parameters looked at in each of them.
MOST_PARAMETERS = 4


class Optimizers:
    """Records a ``StepRecord`` for each optimizer that steps.

    Args:
        namespace: The user's names.
    """

    def __init__(self, namespace: Mapping[str, Any]) -> None:
        self._names = Names(namespace)
        self._taps: Taps | None = None
        self._recorder: Recorder | None = None
        self._known: dict[int, weakref.ref[torch.optim.Optimizer]] = {}

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Listen for steps."""
        self._taps, self._recorder = taps, recorder
        taps.on("step_begin", self._stepping)

    def flush(self, step: int) -> None:
        """Rest until the next look: optimizers hardly change."""
        if self._taps is not None:
            self._taps.rest(self, until=next_look(step))

    def detach(self) -> None:
        """Let go of everything."""
        self._taps = self._recorder = None
        self._known.clear()

    def _stepping(self, optimizer: torch.optim.Optimizer, frame: FrameType) -> None:
        known = self._known.get(id(optimizer))
        if self._recorder is None or (known is not None and known() is optimizer):
            return
        self._known[id(optimizer)] = weakref.ref(optimizer)
        tensors = [tensor for group in optimizer.param_groups for tensor in group["params"]]
        sizes = [tensor.numel() for tensor in tensors if not isinstance(tensor, nn.UninitializedParameter)]
        if sizes:
            name = self._names.of_optimizer(optimizer, frame)
            self._recorder.add(_record(optimizer, name, sizes, tensors, site_of(frame)))


def _record(
    optimizer: torch.optim.Optimizer, name: str, sizes: list[int], tensors: list[torch.Tensor], site: Site | None
) -> StepRecord:
    group = optimizer.param_groups[0]
    return StepRecord(
        optimizer=name,
        class_name=type(optimizer).__name__,
        built_in=str(type(optimizer).__module__).startswith("torch.optim"),
        parameters=len(sizes),
        elements=sum(sizes),
        median_elements=int(statistics.median(sizes)),
        device=str(tensors[0].device),
        foreach=group.get("foreach"),
        fused=group.get("fused"),
        can_fuse=can_fuse(optimizer, tensors),
        place=place_of(site),
    )


def can_fuse(optimizer: torch.optim.Optimizer, tensors: list[torch.Tensor]) -> bool:
    """Return whether an optimizer could have its step in one operator.

    Args:
        optimizer: The optimizer.
        tensors: Its parameters.
    """
    devices: list[str] = getattr(optimizers, "_get_fused_kernels_supported_devices", list)()
    taken = "fused" in inspect.signature(type(optimizer).__init__).parameters
    dense = all(tensor.grad is None or tensor.grad.layout is torch.strided for tensor in tensors)
    floats = all(tensor.is_floating_point() and tensor.device.type in devices for tensor in tensors)
    return taken and dense and floats and not optimizer.param_groups[0].get("differentiable")


class _Line:
    """What was seen at a line that resets gradients."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.looks = self.zeroed = 0


class Resets:
    """Records a ``ZeroedRecord`` for each line whose resets leave gradients of zeros.

    Args:
        namespace: The user's names.
    """

    def __init__(self, namespace: Mapping[str, Any]) -> None:
        self._names = Names(namespace)
        self._taps: Taps | None = None
        self._recorder: Recorder | None = None
        self._lines: dict[Site | None, _Line] = {}
        self._waiting: list[tuple[_Line, list[weakref.ref[torch.Tensor]]]] = []

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Listen for resets and backward passes."""
        self._taps, self._recorder = taps, recorder
        taps.on("reset", self._reset)
        taps.on("backward_begin", self._look)

    def flush(self, step: int) -> None:
        """Rest once all lines have been seen often enough, until there may be others."""
        if self._taps is not None and step >= MOST_LOOKS:
            self._waiting.clear()
            self._taps.rest(self, until=next_look(step))

    def detach(self) -> None:
        """Hand over the lines, and let go of everything."""
        recorder, self._recorder, self._taps = self._recorder, None, None
        for site, line in self._lines.items():
            if line.zeroed and recorder is not None:
                recorder.add(
                    ZeroedRecord(optimizer=line.name, looks=line.looks, zeroed=line.zeroed, place=place_of(site))
                )
        self._lines.clear()
        self._waiting.clear()

    def _reset(self, owner: torch.optim.Optimizer | nn.Module, frame: FrameType) -> None:
        site = site_of(frame)
        line = self._lines.get(site)
        if line is None:
            line = self._lines[site] = _Line(self._name(owner, frame))
        if line.looks < MOST_LOOKS:
            refs = [weakref.ref(tensor) for tensor in _parameters(owner) if tensor.grad is not None][:MOST_PARAMETERS]
            if refs:
                self._waiting.append((line, refs))

    def _look(self, tensors: Any, frame: FrameType) -> None:
        """See whether the gradients that were reset are still there."""
        for line, refs in self._waiting:
            line.looks += 1
            line.zeroed += any((tensor := ref()) is not None and tensor.grad is not None for ref in refs)
        self._waiting.clear()

    def _name(self, owner: torch.optim.Optimizer | nn.Module, frame: FrameType) -> str:
        if isinstance(owner, torch.optim.Optimizer):
            return self._names.of_optimizer(owner, frame)
        return self._names.of_model(owner, frame)[1]


def _parameters(owner: torch.optim.Optimizer | nn.Module) -> list[torch.Tensor]:
    if isinstance(owner, torch.optim.Optimizer):
        return [tensor for group in owner.param_groups for tensor in group["params"]]
    return list(owner.parameters())
