"""This file measures headroom: how far half numbers are from overflow, and how many are too small to be exact."""

import math
from typing import Any

import torch
from torch import nn

from torchmagic.probes.cast import Cast
from torchmagic.probes.leaves import Leaves, Look
from torchmagic.probes.mixed_precision import HALF, MixedPrecision
from torchmagic.probes.pacing import Pacer, next_look
from torchmagic.probes.taps import Taps
from torchmagic.probes.wrappers import now
from torchmagic.session.recorder import Recorder
from torchmagic.tensors.glance import readable, sample, tensors_in
from torchmagic.tensors.reduce import fetch


class _Extent:
    """The greatest magnitude, and how many numbers are zero or subnormal, of one tensor, still on its device."""

    __slots__ = ("count", "dtype", "scalars")

    def __init__(self, tensor: torch.Tensor, dtype: torch.dtype) -> None:
        values = sample(tensor.detach()).abs()
        self.dtype, self.count = dtype, values.numel()
        normal = torch.count_nonzero(values >= torch.finfo(dtype).tiny)
        nonzero = torch.count_nonzero(values)
        self.scalars = (values.amax(), nonzero - normal, self.count - nonzero)


class Headroom:
    """Records, where half types occur and on the steps that the pace allows, how well numbers fit their type.

    Per module ``activation_headroom`` and ``activation_subnormal_share``; per parameter ``grad_headroom``,
    ``grad_subnormal_share`` and ``grad_underflow_share`` (zeros too), and, of half weights, ``weight_headroom``.
    Headroom is in bits: how often the greatest magnitude can be doubled before it is infinite. Gradients are looked at
    after the first backward of a step, as long as they are scaled; where autocast runs in float16 they are measured by
    float16, through which they came, although they are kept in float32.
    """

    def __init__(self, cast: Cast, precision: MixedPrecision, taps: Taps, leaves: Leaves, pacer: Pacer) -> None:
        self._cast, self._precision, self._taps = cast, precision, taps
        self._pacer, self._look = pacer, Look(leaves, taps)
        self._recorder: Recorder | None = None
        self._found: dict[str, dict[str, _Extent]] = {}

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Listen for the innermost modules' outputs and for backwards."""
        self._recorder = recorder
        taps.on("leaf", self._see)
        taps.on("backward_end", self._look_at_gradients)

    def flush(self, step: int) -> None:
        """Hand over the step's numbers, and decide whether the next step is looked at."""
        if not self._precision.meets_half:
            self._taps.rest(self, until=next_look(step))
            return
        if self._look.is_on or self._look.took:
            self._close()
        wanted = self._pacer.wants("headroom")
        self._look.switch(on=wanted)

    def detach(self) -> None:
        """Let go of everything."""
        self._look.switch(on=False)
        self._found = {}

    def _see(self, module: nn.Module, args: Any, output: Any) -> None:
        if not self._look.counts():
            return
        began = now()
        found = tensors_in(output)
        if found and found[0].dtype in HALF and readable(found[0]):
            path = self._cast.path_of(module)
            if path is not None:
                self._found.setdefault("activation", {})[path] = _Extent(found[0], found[0].dtype)
        self._look.took += now() - began

    def _look_at_gradients(self, tensors: Any, nanoseconds: int) -> None:
        model = self._cast.current
        if not self._look.is_on or "grad" in self._found or model is None:
            return
        began = now()
        through_float16 = self._precision.autocast_dtype is torch.float16
        gradients, weights = self._found.setdefault("grad", {}), self._found.setdefault("weight", {})
        for name, ref in model.parameters.items():
            parameter = ref()
            if parameter is None:
                continue
            if parameter.dtype in HALF and readable(parameter):
                weights[name] = _Extent(parameter, parameter.dtype)
            gradient = parameter.grad
            if gradient is not None and readable(gradient):
                dtype = gradient.dtype if gradient.dtype in HALF else torch.float16 if through_float16 else None
                if dtype is not None:
                    gradients[name] = _Extent(gradient, dtype)
        self._look.took += now() - began

    def _close(self) -> None:
        began = now()
        extents = [extent for group in self._found.values() for extent in group.values()]
        numbers = iter(fetch([scalar for extent in extents for scalar in extent.scalars]) if extents else ())
        for kind, group in self._found.items():
            rows = [[next(numbers) for _ in extent.scalars] for extent in group.values()]
            if rows:
                self._hand_over(kind, group, rows)
        self._found = {}
        self._pacer.pay("headroom", now() - began + self._look.cost())

    def _hand_over(self, kind: str, group: dict[str, _Extent], rows: list[list[float]]) -> None:
        if self._recorder is None:
            return
        names, extents = tuple(group), tuple(group.values())
        peaks = [_headroom(row[0], extent.dtype) for row, extent in zip(rows, extents, strict=True)]
        self._recorder.append(f"{kind}_headroom", peaks, names)
        if kind == "weight":
            return
        shares = [row[1] / extent.count for row, extent in zip(rows, extents, strict=True)]
        self._recorder.append(f"{kind}_subnormal_share", shares, names)
        if kind == "grad":
            lost = [(row[1] + row[2]) / extent.count for row, extent in zip(rows, extents, strict=True)]
            self._recorder.append("grad_underflow_share", lost, names)


def _headroom(peak: float, dtype: torch.dtype) -> float:
    """Return the bits left to a type's greatest number: none for what is not finite, NaN where all is zero."""
    if peak == 0:
        return math.nan
    return math.log2(torch.finfo(dtype).max / peak) if math.isfinite(peak) else 0.0
