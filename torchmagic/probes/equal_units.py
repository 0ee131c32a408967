"""This file looks at the first weights: layers whose units are all alike, or all zero, and whether they stay so."""

import math
import weakref
from types import FrameType
from typing import Any

import torch
from torch import nn

from torchmagic.probes.cast import Cast
from torchmagic.probes.members import Optimizer
from torchmagic.probes.module_parts import modules_of
from torchmagic.probes.pacing import next_look
from torchmagic.probes.sites import Site, is_torchs, place_of, site_of
from torchmagic.probes.taps import Taps
from torchmagic.records.structure import EqualUnitsRecord
from torchmagic.session.recorder import Recorder
from torchmagic.tensors.glance import readable

# A weight has units and inputs; looked at are the ones of a plain tensor too.
MIN_DIMS, MIN_UNITS = 2, 2
# Each row of these has gradients of its own: they are looked at for zeros alone.
ROWS_ARE_NO_UNITS = (nn.Embedding, nn.EmbeddingBag)
# Their weights hold one matrix a gate, one below the other: units are alike within each.
GATED = (nn.RNNBase, nn.RNNCellBase)
# Optimizers and their weights that are looked at: a model has fewer, a sweep may have thousands.
MOST_WEIGHTS, MOST_OPTIMIZERS = 1024, 16


class _Weight:
    """A weight whose units began alike: along which dimensions they may lie, if it has any, and in which module."""

    def __init__(
        self, tensor: torch.Tensor, name: str, module: nn.Module | None, dims: list[int], site: Site | None
    ) -> None:
        self.ref, self.name, self.dims, self.site = weakref.ref(tensor), name, dims, site
        self.class_name = type(module).__name__ if module is not None else ""
        self.gates = _gates(tensor, module)

    def units(self, values: torch.Tensor) -> torch.Tensor:
        """Return values of the weight's shape with a unit's of all gates side by side."""
        return values.reshape(self.gates, -1, *values.shape[1:]).transpose(0, 1) if self.gates > 1 else values


class EqualUnits:
    """Records ``EqualUnitsRecord`` of weights that begin with equal units, at the first steps and ever more rarely."""

    def __init__(self, cast: Cast, taps: Taps) -> None:
        self._cast, self._taps = cast, taps
        self._recorder: Recorder | None = None
        self._met: dict[int, tuple[weakref.ref[torch.optim.Optimizer], list[_Weight]]] = {}
        # The line that last filled each tensor, while it is not known which ones a model or optimizer holds.
        self._filled: dict[int, tuple[weakref.ref[torch.Tensor], Site | None]] = {}

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Listen for optimizer steps."""
        self._recorder = recorder
        taps.on("step_begin", self._step)
        taps.on("weights_set", self._fill)

    def flush(self, step: int) -> None:
        """Rest until the next look."""
        self._taps.rest(self, until=next_look(step))

    def detach(self) -> None:
        """Look a last time, and let go of everything."""
        for _, weights in self._met.values():
            self._look(weights)
        self._met.clear()
        self._filled.clear()
        self._recorder = None

    def _fill(self, filled: Any, frame: FrameType) -> None:
        if isinstance(filled, torch.Tensor) and len(self._filled) < MOST_WEIGHTS:
            self._filled[id(filled)] = weakref.ref(filled), site_of(frame)

    def _line(self, tensor: torch.Tensor) -> Site | None:
        ref, site = self._filled.get(id(tensor), (None, None))
        return site if ref is not None and ref() is tensor else None

    def _step(self, optimizer: torch.optim.Optimizer, frame: FrameType) -> None:
        known = self._met.get(id(optimizer))
        if known is not None and known[0]() is optimizer:
            self._look(known[1])
            return
        if len(self._met) >= MOST_OPTIMIZERS:
            return
        weights = self._alike(optimizer, self._cast.optimizer(optimizer))
        self._met[id(optimizer)] = weakref.ref(optimizer), weights
        self._look(weights)

    def _alike(self, optimizer: torch.optim.Optimizer, entry: Optimizer) -> list[_Weight]:
        owners = [tensor for group in optimizer.param_groups for tensor in group["params"]]
        modules: dict[int, nn.Module] | None = None
        found = []
        for name, tensor in list(zip(entry.names, owners, strict=True))[:MOST_WEIGHTS]:
            dims = _equal_dims(tensor)
            if not dims:
                continue
            modules = self._owners() if modules is None else modules
            module = modules.get(id(tensor))
            if module is not None and is_torchs(type(module)):
                dims = [0] if 0 in dims and not isinstance(module, ROWS_ARE_NO_UNITS) else []
            if dims or (isinstance(module, ROWS_ARE_NO_UNITS) and not tensor.detach().any()):
                found.append(_Weight(tensor, name, module, dims, self._line(tensor)))
        return found

    def _owners(self) -> dict[int, nn.Module]:
        """Return the module of each parameter of the models known."""
        roots = [root for model in self._cast.models if (root := model.ref()) is not None]
        return {id(value): part for root in roots for part in modules_of(root) for value in part._parameters.values()}

    def _look(self, weights: list[_Weight]) -> None:
        if self._recorder is None:
            return
        for weight in weights:
            tensor = weight.ref()
            if tensor is not None and tensor.numel():
                self._recorder.add(_record(weight, tensor, self._recorder.step))


def _gates(tensor: torch.Tensor, module: nn.Module | None) -> int:
    """Return how many gates a weight of a recurrent layer holds; 1 for any other."""
    size = getattr(module, "hidden_size", 0) if isinstance(module, GATED) else 0
    return len(tensor) // size if isinstance(size, int) and size and len(tensor) % size == 0 else 1


def _equal_dims(tensor: torch.Tensor) -> list[int]:
    """Return the dimensions along which all slices of a weight are the same bit by bit."""
    if nn.parameter.is_lazy(tensor) or tensor.dim() < MIN_DIMS or not tensor.requires_grad or not readable(tensor):
        return []
    values = tensor.detach()
    found = []
    for dim in (0, 1) if tensor.dim() == MIN_DIMS else (0,):
        if values.shape[dim] < MIN_UNITS:
            continue
        first, last = values.select(dim, 0), values.select(dim, -1)
        # Two units are compared before all of them are read.
        if torch.equal(first, last) and bool((values == first.unsqueeze(dim)).all()):
            found.append(dim)
    return found


def _record(weight: _Weight, tensor: torch.Tensor, step: int) -> EqualUnitsRecord:
    values, gradient = tensor.detach(), tensor.grad
    if gradient is not None and not (readable(gradient) and gradient.shape == values.shape):
        gradient = None
    values, gradient = weight.units(values), weight.units(gradient) if gradient is not None else None
    # Of a tensor that is no layer's, units may be columns or rows: those that are more alike are.
    spreads = {dim: (_deviation(gradient, dim), _deviation(values, dim)) for dim in weight.dims}
    apart = math.inf, math.inf  # where there are no units
    dim = min(spreads, key=lambda each: spreads[each], default=0)
    gradient_deviation, weight_deviation = spreads.get(dim, apart)
    return EqualUnitsRecord(
        parameter=weight.name,
        module=weight.name.rpartition(".")[0],
        class_name=weight.class_name,
        step=step,
        num_units=values.shape[dim],
        weight_deviation=weight_deviation,
        gradient_deviation=gradient_deviation,
        is_zero=not values.any(),
        has_gradient=gradient is not None,
        gradient_is_zero=gradient is not None and not gradient.any(),
        place=place_of(weight.site),
    )


def _deviation(values: torch.Tensor | None, dim: int) -> float:
    """Return the greatest distance of a unit from the first one, as a share of the greatest magnitude."""
    if values is None:
        return 0.0
    values = values.detach()
    peak = float(values.abs().amax())
    if not math.isfinite(peak) or peak == 0:
        return 0.0 if peak == 0 else math.inf
    return float((values - values.select(dim, 0).unsqueeze(dim)).abs().amax()) / peak
