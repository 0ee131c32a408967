"""This file watches rectifiers: which of their units stay silent for every sample."""

import itertools
import math
from collections.abc import Callable, Hashable
from types import FrameType
from typing import Any

import torch
from torch import nn

from torchmagic.probes.cast import Cast
from torchmagic.probes.leaves import Leaves, Look
from torchmagic.probes.pacing import Pacer
from torchmagic.probes.sites import is_users, place_of, site_of
from torchmagic.probes.taps import Taps
from torchmagic.probes.wrappers import now
from torchmagic.records.model import RectifierRecord
from torchmagic.records.place import Place
from torchmagic.session.recorder import Recorder
from torchmagic.tensors.glance import readable
from torchmagic.tensors.reduce import fetch

RECTIFIERS = (nn.ReLU, nn.ReLU6, nn.Hardswish, nn.Hardsigmoid, nn.Threshold)
# A rectifier's output has a batch and units.
MIN_DIMS = 2
# A unit is called silent after this many batches and samples without one output above zero.
SILENT_BATCHES, SILENT_SAMPLES = 5, 256
# Modules after which dimension 1 holds the channels; elsewhere the last one holds the features.
CHANNELS_FIRST = (
    nn.modules.conv._ConvNd,
    nn.modules.batchnorm._BatchNorm,
    nn.GroupNorm,
    nn.modules.instancenorm._InstanceNorm,
)


# Steps that are looked at: all the first ones, then one in each window, which widens at some steps. A budget has no say
# in it, so that a fast and a slow machine see the same.
FIRST_STEPS, WINDOWS, WIDEST = 16, ((64, 4), (256, 8), (1024, 16)), 32
# After so many looks at models without a rectifier, the next look is so many steps away.
IDLE_LOOKS, BETWEEN_IDLE = 3, 64
# Relu as a function is seen at so many looks after a model has appeared, and, where nobody called it, at few later
# ones.
FUNCTION_LOOKS, BETWEEN_FUNCTION_LOOKS = 8, 8


def looks_at(step: int) -> bool:
    """Whether a step is one of those that are looked at.

    The place within the window moves, so that a loader of as many batches as a window has steps is seen whole.
    """
    if step < FIRST_STEPS:
        return True
    window = next((width for until, width in WINDOWS if step < until), WIDEST)
    return step % window == (step // window * 5) % window


class _Units:
    """When each unit of one module last gave something above zero, counted in samples seen."""

    def __init__(self, path: str, batch: torch.Tensor, dim: int) -> None:
        self.path = path
        self.dim = dim
        self.samples = 0
        self.batches = 0
        self.alive_at = torch.zeros(batch.shape[dim], dtype=torch.int64, device=batch.device)
        self.alike: torch.Tensor | bool | None = None  # on the host a bool, which stays as it is once it is False

    def see(self, output: torch.Tensor) -> None:
        others = [d for d in range(output.dim()) if d != self.dim]
        # NaN compares as false: a unit that gives it is broken, and not silent
        alive = ((output.amax(others) if others else output) <= 0).logical_not_()
        self.samples += output.numel() // output.shape[self.dim]
        self.batches += 1
        self.alive_at.masked_fill_(alive, self.samples)
        if self.alike is not False and self.dim and len(output) > 1:
            near = output.is_cpu
            alike = torch.equal(output[0], output[-1]) if near else (output[0] == output[-1]).all()
            self.alike = alike if self.alike is None else self.alike & alike

    def silent(self, batch_samples: int) -> torch.Tensor | None:
        """Return the share of silent units as a zero-dim tensor; None while too little was seen.

        It is NaN where no unit is told anything: of samples that are all alike one cannot tell what another would do.
        """
        window = max(SILENT_SAMPLES, SILENT_BATCHES * batch_samples)
        if self.batches < SILENT_BATCHES or self.samples < window:
            return None
        share = (self.alive_at <= self.samples - window).mean(dtype=torch.float32)
        if self.alike is None or self.alike is False:
            return share
        return torch.where(self.alike & (share < 1), math.nan, share)


class Rectifiers:
    """Records ``dead_share`` per rectifier: the share of its units silent over the last batches that were looked at.

    Only training forwards count, and only the steps of ``looks_at``, or those that the user asked for.

    Args:
        cast: Tells the modules' paths.
        taps: Tells where a forward stands.
        leaves: Shows the modules' outputs.
        pacer: Is told what looking costs, and asked where the user chose the steps.
        chosen: Whether the user chose them.

    Attributes:
        next: The step that is looked at next, while no look is on.
    """

    def __init__(self, cast: Cast, taps: Taps, leaves: Leaves, pacer: Pacer, *, chosen: bool = False) -> None:
        self._cast, self._taps, self._pacer, self._chosen = cast, taps, pacer, chosen
        self._look = Look(leaves, taps)
        self._recorder: Recorder | None = None
        self._units: dict[Hashable, _Units] = {}
        self._shares: dict[str, torch.Tensor] = {}
        self._channels_first = False
        self._looks = 0
        self._called = False
        self._first_look = self._num_models = self.next = 0

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Listen for the innermost modules' outputs."""
        self._recorder = recorder
        taps.on("leaf", self._see)
        taps.on("relu", self._see_function)
        self._switch(on=True)

    @property
    def is_looking(self) -> bool:
        """Whether the present step is looked at."""
        return self._look.is_on

    def flush(self, step: int) -> None:
        """Hand over the step's shares, and decide whether the next step is looked at."""
        if self._look.is_on or self._look.took:
            self._close()
        elif step + 1 < self.next:  # a rest this short costs more than it saves
            return
        step += 1
        wanted = self._pacer.wants("rectifiers") if self._chosen else looks_at(step)
        if wanted and not self._units and self._looks > IDLE_LOOKS:
            wanted = step % BETWEEN_IDLE == 0
        self._switch(on=wanted)
        if self._chosen:
            self.next = step + self._pacer.rest("rectifiers")
        elif not wanted:
            self.next = next(each for each in itertools.count(step + 1) if looks_at(each))

    def detach(self) -> None:
        """Let go of everything."""
        self._switch(on=False)
        self._units = {}
        self._shares = {}

    def _switch(self, *, on: bool) -> None:
        """Begin or end to look; to replace the function costs more than a look does."""
        self._look.switch(on=on)
        if len(self._cast.models) != self._num_models:
            self._num_models, self._first_look = len(self._cast.models), self._looks
        since = self._looks - self._first_look
        often = self._called or since < FUNCTION_LOOKS or since % BETWEEN_FUNCTION_LOOKS == 0
        self._taps.see("relu", seen=on and often)

    def _close(self) -> None:
        if self._shares and self._recorder is not None:
            began = now()
            names = tuple(self._shares)
            self._recorder.append("dead_share", fetch(list(self._shares.values())), names)
            self._look.took += now() - began
        self._shares = {}
        self._pacer.pay("rectifiers", self._look.cost())
        self._looks += 1

    def _see(self, module: nn.Module, args: Any, output: Any) -> None:
        if not (self._look.is_on and self._look.counts()):
            return
        if isinstance(module, CHANNELS_FIRST):
            self._channels_first = True
        elif isinstance(module, nn.Linear):
            self._channels_first = False
        if isinstance(module, RECTIFIERS):
            self._watch(id(module), output, lambda: (self._cast.path_of(module) or type(module).__name__, None))

    def _see_function(self, output: Any, frame: FrameType) -> None:
        if self._look.is_on and is_users(frame):  # nn.ReLU calls the function too, and is seen as a module
            owner = self._taps.stack[-1] if self._taps.stack else None
            self._called = True
            key = (frame.f_code, frame.f_lasti, id(owner))
            self._watch(key, output, lambda: self._place(frame, owner))

    def _place(self, frame: FrameType, owner: nn.Module | None) -> tuple[str, Place | None]:
        """Return a name for a call of the function: the module in whose forward it stands, and which call it is."""
        path = (self._cast.path_of(owner) if owner is not None else None) or frame.f_code.co_name
        taken = {units.path for units in self._units.values()}
        number = next(i for i in itertools.count(1) if f"{path}.relu({i})" not in taken)
        return f"{path}.relu({number})", place_of(site_of(frame))

    def _watch(self, key: Hashable, output: Any, name: Callable[[], tuple[str, Place | None]]) -> None:
        if not self._taps.grad_enabled or not readable(output) or output.dim() < MIN_DIMS:
            return
        began = now()
        units = self._units.get(key)
        if units is None:
            path, place = name()
            units = self._units[key] = _Units(path, output, self._unit_dim(output))
            if self._recorder is not None:
                self._recorder.add(RectifierRecord(module=path, place=place))
        elif units.dim >= output.dim() or units.alive_at.shape[0] != output.shape[units.dim]:
            units = self._units[key] = _Units(units.path, output, self._unit_dim(output))
        units.see(output.detach())
        share = units.silent(output.numel() // output.shape[units.dim])
        if share is not None:
            self._shares[units.path] = share
        self._look.took += now() - began

    def _unit_dim(self, output: torch.Tensor) -> int:
        if output.dim() >= 4:  # noqa: PLR2004 - images and volumes
            return 1
        return 1 if self._channels_first and output.dim() == 3 else output.dim() - 1  # noqa: PLR2004 - (N, C, L)
