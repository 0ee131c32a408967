"""This file measures gradients: the total norm at every step, the rest when the pace allows or the norm stands out."""

import math
from collections.abc import Sequence
from types import FrameType
from typing import Any

import torch

from torchmagic.probes.cast import Cast
from torchmagic.probes.listeners import Listeners
from torchmagic.probes.members import ByHand, Optimizer, gradient_in
from torchmagic.probes.outliers import Outliers
from torchmagic.probes.pacing import Pacer
from torchmagic.probes.probe import nothing_waits
from torchmagic.probes.riders import Riders
from torchmagic.probes.taps import Taps
from torchmagic.probes.wrappers import PhaseClock, now
from torchmagic.session.recorder import WHOLE, Recorder
from torchmagic.tensors.moments import rows_told, table_of
from torchmagic.tensors.packing import Packed
from torchmagic.tensors.presence import has_numbers
from torchmagic.tensors.reduce import SMALL, fetch, norms_and, packs_well, quick_total, small_norm, total_norm

# Optimizers whose norms are told apart; a search has hundreds.
MOST_TOLD = 9
METRICS = {
    "grad_norm": "norm",
    "grad_mean": "mean",
    "grad_std": "std",
    "grad_abs_max": "abs_max",
    "grad_zero_share": "zero_share",
    "grad_nonfinite": "num_nonfinite",
}


class _State:
    """What is known of one optimizer's gradients."""

    def __init__(self) -> None:
        self.outliers = Outliers()
        self.has_closure = False  # the gradients that count are made within the step


class Gradients:
    """Records gradients as the optimizer is about to use them.

    Every step: ``grad_norm`` in total, ``optimizer_grad_norm`` by the optimizer's name where several step by turns, and
    ``grad_norm_before_clip`` where the user clips. When the pace allows, and at the first steps whose total
    is not finite or stands out: ``grad_norm``, ``grad_mean``, ``grad_std``, ``grad_abs_max``, ``grad_zero_share`` and
    ``grad_nonfinite`` (a count) per parameter; sparse gradients by their stored values, complex ones by their
    magnitudes. A step that is given a closure is measured as it ends.

    Args:
        cast: Optimizers that take part.
        pacer: Says when a close look is due.
        riders: What waits on a device, and comes along when a total is fetched from there.

    Attributes:
        total: The present step's total norm, None while it is not known.
        packed: The present step's gradients, where they are few and were looked at closely.
        alarmed: Whether it is not finite or stands out, and a close look at the step is granted.
        inside: What is known of the optimizer whose step is under way.
        backward_before: How long backwards had taken as it began (ns).
        riders: As given.
        followers: Probes that look at a step as well where it is alarmed, and may rest.
    """

    flush = nothing_waits

    def __init__(self, cast: Cast, pacer: Pacer, riders: Riders) -> None:
        self._cast, self._pacer, self.riders = cast, pacer, riders
        self._recorder: Recorder | None = None
        self._states: dict[int, _State] = {}
        self.inside: _State | None = None
        self._clips: list[torch.Tensor | float] = []
        self._clock = PhaseClock()
        self.backward_before = 0
        self._packs: dict[int, bool] = {}
        self._told: set[str] = set()
        self._taps: Taps | None = None
        self.followers: list[object] = []
        self._has_broken = False
        self.total: float | None = None
        self.packed: Packed | None = None
        self.alarmed = False

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Listen for optimizer steps, what runs within them, and clipping."""
        self._recorder, self._clock, self._taps = recorder, taps.clock, taps
        taps.on("step_begin", self._step_begins)
        taps.on("step_end", self._step_ends)
        taps.on("update_begin", self._step_begins)
        taps.on("update_end", self._step_ends)
        taps.on("clip", self._clipped)
        taps.on("clip_value", self._clips_values)

    def detach(self) -> None:
        """Hand over norms before clipping that no step took up."""
        self.riders.arrive(fetch(self.riders.tensors))
        if self._clips:
            self._norms_before_clip()
        self.total, self.alarmed, self.packed, self._taps = None, False, None, None
        self.followers.clear()

    def _clipped(self, norm: Any) -> None:
        if not isinstance(norm, torch.Tensor) or not has_numbers(norm):
            return
        if norm.is_cpu:
            self._clips.append(norm.detach())
        else:
            self.riders.add(norm.detach(), self._clips.append)

    def _clips_values(self, parameters: Sequence[torch.Tensor] | torch.Tensor) -> None:
        owners = [parameters] if isinstance(parameters, torch.Tensor) else parameters
        gradients = [gradient for owner in owners if (gradient := owner.grad) is not None]
        pack = self._packs.get(len(gradients))
        if pack is None:
            pack = self._packs[len(gradients)] = packs_well(gradients)
        self._clips.append(quick_total(gradients, pack=pack))

    def _step_begins(self, optimizer: torch.optim.Optimizer | ByHand, frame: FrameType) -> None:
        self.total, self.alarmed, self.packed = None, False, None
        entry = self._cast.optimizer(optimizer)
        state = self._states.get(id(entry))
        if state is None:
            state = self._states[id(entry)] = _State()
        self.inside, self.backward_before = state, self._clock.backward
        if not state.has_closure:
            self._measure(optimizer, entry, state)
        if self.alarmed and self._taps is not None:
            self._alarm(self._taps.listeners, "update_begin" if isinstance(optimizer, ByHand) else "step_begin")

    def _alarm(self, listeners: Listeners, event: str) -> None:
        """Have others look at this step too, and, where gradients break for the first time, all look at the next."""
        for follower in self.followers:
            listeners.summon(follower, event)
        if not (self._has_broken or math.isfinite(self.total or 0.0)):
            self._has_broken = True
            self._pacer.demand()
            listeners.wake(everybody=True)

    def begins_shortly(self, step: int, optimizer: torch.optim.Optimizer, entry: Optimizer) -> float | None:
        """Record the total norm, and return it, where that is all there is to it: of few gradients on the host.

        None where there is more, as where they stand out: then nothing is done.
        """
        state, recorder = self._states.get(id(entry)), self._recorder
        if state is None or state.has_closure or not entry.packs or self._clips or self.riders.waiting:
            return None
        row = recorder.newest.get("grad_norm") if recorder is not None else None
        if row is None or row.subjects != WHOLE or self._pacer.wants("gradients"):
            return None
        gradients: list[torch.Tensor] = []
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                if (gradient := parameter.grad) is not None:
                    if type(gradient) is not torch.Tensor or gradient.requires_grad:
                        return None
                    gradients.append(gradient)
        total = small_norm(gradients) if gradients else None
        if total is None or not state.outliers.is_near(total):
            return None
        row.append(step, (total,))
        self.inside, self.backward_before = state, self._clock.backward
        self.total, self.alarmed = total, False
        return total

    def _step_ends(self, optimizer: torch.optim.Optimizer | ByHand, nanoseconds: int) -> None:
        state, self.inside = self.inside, None
        if state is None:
            return
        state.has_closure = state.has_closure or self._clock.backward != self.backward_before
        if state.has_closure:
            self._measure(optimizer, self._cast.optimizer(optimizer), state)

    def _measure(self, optimizer: torch.optim.Optimizer | ByHand, entry: Optimizer, state: _State) -> None:
        given = _gradients(optimizer)
        gradients = [gradient for gradient in given if gradient is not None]
        if not gradients or self._recorder is None:
            return
        wanted = self._pacer.wants("gradients")
        if wanted:
            total, values = self._look_closer(given, entry, self.riders.tensors)
            self.riders.arrive(values)
        else:
            total = self._together(gradients) if self.riders.waiting else quick_total(gradients, pack=entry.packs)
        highest = max(total, *self._norms_before_clip()) if self._clips else total  # clipping hides a spike
        if not (math.isfinite(total) and math.isfinite(highest)) or state.outliers.is_far(highest):
            self.alarmed = state.outliers.may_look()
            if self.alarmed and not wanted:
                self._look_closer(given, entry, ())
        self.total = total
        self._recorder.append("grad_norm", (total,))
        if len(self._cast.at_work.members) > 1 and (entry.name in self._told or len(self._told) < MOST_TOLD):
            self._told.add(entry.name)
            self._recorder.append("optimizer_grad_norm", (total,), (entry.name,))

    def _together(self, gradients: list[torch.Tensor]) -> float:
        """Return the total norm; what waits on the device comes by the same transfer."""
        lengths, values = norms_and(gradients, self.riders.tensors)
        self.riders.arrive(values)
        return total_norm(lengths)

    def _norms_before_clip(self) -> list[float]:
        scalars = [each for each in self._clips if isinstance(each, torch.Tensor)]
        found = [*fetch(scalars), *(each for each in self._clips if isinstance(each, float))]
        self._clips.clear()
        if self._recorder is not None:
            for norm in found:
                self._recorder.append("grad_norm_before_clip", (norm,))
        return found

    def _look_closer(
        self, gradients: Sequence[torch.Tensor | None], entry: Optimizer, scalars: Sequence[torch.Tensor]
    ) -> tuple[float, list[float]]:
        """Record the statistics of each gradient; return the total norm, and what scalars hold."""
        began = now()
        held = [gradient for gradient in gradients if gradient is not None]
        names: Sequence[str] = entry.names
        if len(held) < len(gradients):
            names = tuple(name for name, gradient in zip(names, gradients, strict=True) if gradient is not None)
        table, brought, packed = table_of(held, scalars)
        self.packed = packed if packed is not None and len(packed.values) <= SMALL else None
        names, rows = rows_told(table, names)
        if self._recorder is not None and names:
            for metric, field in METRICS.items():
                self._recorder.append(metric, rows[field], names)
        self._pacer.pay("gradients", now() - began)
        return total_norm(rows["norm"]), brought


def _gradients(optimizer: torch.optim.Optimizer | ByHand) -> list[torch.Tensor | None]:
    """Return the gradient of each tensor that steps; None where one has none."""
    if isinstance(optimizer, ByHand):
        return [gradient_in(optimizer, leaf) for leaf in optimizer.leaves]
    return [parameter.grad for group in optimizer.param_groups for parameter in group["params"]]
