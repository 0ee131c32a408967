"""This file measures updates: how far a step moves the parameters, and how much of it precision swallows."""

import math
from collections.abc import Sequence
from types import FrameType
from typing import Any

import numpy as np
import torch
from torch.optim import optimizer as optimizers

from torchmagic.probes.cast import Cast
from torchmagic.probes.gradients import Gradients
from torchmagic.probes.pacing import Pacer
from torchmagic.probes.probe import nothing_waits
from torchmagic.probes.taps import Taps
from torchmagic.probes.wrappers import now
from torchmagic.session.recorder import Recorder
from torchmagic.tensors.changes import Copy
from torchmagic.tensors.packing import packable_sizes
from torchmagic.tensors.reduce import is_measurable


class Updates:
    """Records what a step changed, when the pace allows and where the gradients raise an alarm.

    Per parameter: ``update_ratio``, the norm of the change over the norm of the weights before it, and
    ``update_swallowed``, the share of the elements with a gradient that are the same bits after the step: their update
    was too small for the precision of the weights. It is NaN where there is nothing to say: no gradient, a sparse one,
    a learning rate of 0. Of a parameter with more than a million elements only an even sample is compared.
    """

    flush = nothing_waits

    def __init__(self, cast: Cast, pacer: Pacer, gradients: Gradients | None = None) -> None:
        self._cast, self._pacer, self._gradients = cast, pacer, gradients
        self._recorder: Recorder | None = None
        self._taps: Taps | None = None
        self._before: Copy | None = None
        self._chosen: _Chosen | None = None
        self._took = 0

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Listen for optimizer steps."""
        self._recorder, self._taps = recorder, taps
        if self._gradients is not None:
            self._gradients.followers.append(self)
        taps.on("step_begin", self._copy)
        taps.on("step_end", self._compare)
        taps.on("update_begin", self._copy)
        taps.on("update_end", self._compare)

    def detach(self) -> None:
        """Let go of the copy."""
        self._before, self._chosen = None, None

    def _copy(self, optimizer: torch.optim.Optimizer, frame: FrameType) -> None:
        self._before, self._chosen = None, None
        if not (self._pacer.wants("updates") or (self._gradients is not None and self._gradients.alarmed)):
            if self._taps is not None:
                self._taps.rest(self, until=self._taps.listeners.step + self._pacer.rest("updates"))
            return
        began = now()
        chosen = _Chosen(optimizer)
        if weights := chosen.weights(optimizer):
            self._before, self._chosen = Copy(weights, chosen.sizes), chosen
        self._took = now() - began

    def _compare(self, optimizer: torch.optim.Optimizer, nanoseconds: int) -> None:
        before, chosen = self._before, self._chosen
        self._before = self._chosen = None
        if before is None or chosen is None or self._recorder is None:
            return
        began = now()
        if not _was_skipped(optimizer):
            closely = self._pacer.wants("swallowed")
            weights = chosen.weights(optimizer)
            packed = self._gradients.packed if self._gradients is not None and _uses_as_given(optimizer) else None
            changes = before.compare(weights, [each.grad for each in weights] if closely else None, packed)
            if changes is not None:
                names = chosen.names(self._cast.optimizer(optimizer).names)
                self._recorder.append("update_ratio", changes.ratios(), names)
                if closely:
                    swallowed = np.where(chosen.moves, changes.swallowed, math.nan)
                    self._recorder.append("update_swallowed", swallowed.tolist(), names)
                    self._pacer.pay("swallowed", (now() - began) // 2)
        self._pacer.pay("updates", now() - began + self._took)


class _Chosen:
    """Which parameters of an optimizer can be compared; it holds none of them.

    Attributes:
        sizes: What ``packable_sizes`` says of them.
        moves: Whether each should move: the learning rate is not 0.
    """

    def __init__(self, optimizer: torch.optim.Optimizer) -> None:
        weights, self._places = _weights(optimizer), list[int]()
        self.moves = [moves for group in optimizer.param_groups for moves in [_moves(group)] * len(group["params"])]
        self.sizes = packable_sizes(weights)
        if not self.sizes:
            self._places = [i for i, each in enumerate(weights) if _can_be_compared(each)]
            self.moves = [self.moves[i] for i in self._places]

    def weights(self, optimizer: torch.optim.Optimizer) -> list[torch.Tensor]:
        """Return them, as far as the optimizer has them still."""
        weights = _weights(optimizer)
        return weights if self.sizes else [weights[i] for i in self._places if i < len(weights)]

    def names(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return their names, out of those of all parameters of the optimizer."""
        return tuple(names) if self.sizes else tuple(names[i] for i in self._places)


def _uses_as_given(optimizer: torch.optim.Optimizer) -> bool:
    """Whether a step pushes with the gradients that are there as it begins: no hook and no class of the user's."""
    if not type(optimizer).__module__.startswith("torch.optim."):
        return False
    return not optimizer._optimizer_step_pre_hooks and len(optimizers._global_optimizer_pre_hooks) == 1


def _weights(optimizer: torch.optim.Optimizer) -> list[torch.Tensor]:
    return [weight for group in optimizer.param_groups for weight in group["params"]]


def _moves(group: dict[str, Any]) -> bool:
    rate = group.get("lr")
    return rate is None or float(rate) != 0.0


def _can_be_compared(weight: torch.Tensor) -> bool:
    return is_measurable(weight) and weight.layout is torch.strided and weight.numel() > 0


def _was_skipped(optimizer: torch.optim.Optimizer) -> bool:
    """Whether a GradScaler told a fused optimizer to leave its parameters alone."""
    found = getattr(optimizer, "found_inf", None)
    return isinstance(found, torch.Tensor) and bool(found.item())
