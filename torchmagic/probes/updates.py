"""This file measures updates: how far a step moves the parameters, and how much of it precision swallows."""

import math
from types import FrameType

import torch

from torchmagic.probes.cast import Cast
from torchmagic.probes.gradients import Gradients
from torchmagic.probes.pacing import Pacer
from torchmagic.probes.probe import nothing_waits
from torchmagic.probes.taps import Taps
from torchmagic.probes.wrappers import now
from torchmagic.session.recorder import Recorder
from torchmagic.tensors.changes import Copy
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
        self._shapes: list[torch.Size] = []
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
        self._before = None

    def _copy(self, optimizer: torch.optim.Optimizer, frame: FrameType) -> None:
        self._before = None
        if not (self._pacer.wants("updates") or (self._gradients is not None and self._gradients.alarmed)):
            if self._taps is not None:
                self._taps.rest(self, until=self._taps.listeners.step + self._pacer.rest("updates"))
            return
        began = now()
        weights = [weight for weight, _ in _weights(optimizer).values()]
        if weights:
            self._before, self._shapes = Copy(weights), [weight.shape for weight in weights]
        self._took = now() - began

    def _compare(self, optimizer: torch.optim.Optimizer, nanoseconds: int) -> None:
        before, self._before = self._before, None
        if before is None or self._recorder is None:
            return
        began = now()
        weights = _weights(optimizer)
        tensors = [weight for weight, _ in weights.values()]
        if [tensor.shape for tensor in tensors] == self._shapes and not _was_skipped(optimizer):
            all_names = self._cast.optimizer(optimizer).names
            names = tuple(all_names[i] for i in weights)
            closely = self._pacer.wants("swallowed")
            changes = before.compare(tensors, [tensor.grad for tensor in tensors] if closely else None)
            self._recorder.append("update_ratio", [change.ratio for change in changes], names)
            if closely:
                swallowed = [
                    change.swallowed if moves else math.nan
                    for change, (_, moves) in zip(changes, weights.values(), strict=True)
                ]
                self._recorder.append("update_swallowed", swallowed, names)
                self._pacer.pay("swallowed", (now() - began) // 2)
        self._pacer.pay("updates", now() - began + self._took)


def _weights(optimizer: torch.optim.Optimizer) -> dict[int, tuple[torch.Tensor, bool]]:
    """Return, by its place among the optimizer's, each parameter that can be compared, and whether it should move."""
    found, place = {}, 0
    for group in optimizer.param_groups:
        rate = group.get("lr")
        moves = rate is None or float(rate) != 0.0
        for weight in group["params"]:
            if is_measurable(weight) and weight.layout is torch.strided and weight.numel():
                found[place] = weight, moves
            place += 1
    return found


def _was_skipped(optimizer: torch.optim.Optimizer) -> bool:
    """Whether a GradScaler told a fused optimizer to leave its parameters alone."""
    found = getattr(optimizer, "found_inf", None)
    return isinstance(found, torch.Tensor) and bool(found.item())
