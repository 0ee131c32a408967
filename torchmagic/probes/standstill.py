"""This file watches for parameters that stand still: a few elements of each, now and some steps later."""

import math
import weakref
from types import FrameType
from typing import Any, NamedTuple

import torch
from torch import nn

from torchmagic.probes.cast import Cast
from torchmagic.probes.listeners import NEVER
from torchmagic.probes.pacing import next_look
from torchmagic.probes.taps import Taps
from torchmagic.session.recorder import Recorder
from torchmagic.tensors.presence import is_freed, is_stored
from torchmagic.tensors.reduce import fetch, is_measurable, values_of

# Steps between the first look and a comparison; elements of a parameter, and parameters, that are looked at.
FEWEST_STEPS = 5
MOST_ELEMENTS, MOST_PARAMETERS = 64, 512
# A gradient is searched for elements that are not zero in an even sample of so many.
MOST_SEARCHED = 1 << 16
# Above this share of equal elements a parameter is looked at again.
STILL = 0.5


class _Sample(NamedTuple):
    """Some elements of a parameter that had a gradient at the first look, and their values then.

    Args:
        settled: Their values as the first forward after the first step found them; None before it.
        stirred: Which of them had a gradient in a step that was looked at since; None before it.
        blind: Whether they were taken without a gradient, as where a closure makes it in the step; what they were
            before that step counts then, and only those that are stirred since.
    """

    name: str
    ref: weakref.ref[torch.Tensor]
    shape: torch.Size
    places: torch.Tensor
    values: torch.Tensor
    settled: torch.Tensor | None = None
    stirred: torch.Tensor | None = None
    blind: bool = False

    def settle(self) -> "_Sample":
        """Take in the values that they have now."""
        tensor = self._present()
        return self if tensor is None or self.blind else self._replace(settled=tensor.clone())

    def stir(self) -> "_Sample":
        """Take in which of them have a gradient now."""
        parameter = self.ref()
        gradient = None if parameter is None else parameter.grad
        if (self.settled is None and not self.blind) or gradient is None or gradient.layout is not torch.strided:
            return self
        if gradient.shape != self.shape or gradient.device != self.places.device:
            return self
        found = values_of(gradient).reshape(-1)[self.places] != 0
        return self._replace(stirred=found if self.stirred is None else found | self.stirred)

    def counts(self) -> list[torch.Tensor]:
        """Return how many elements tell something, how many of these are the same bits, and both for a second try."""
        present = self._present()
        if present is None:
            return []
        if self.blind:
            return [] if self.stirred is None else _counts(present, self.values, self.stirred)
        first = self.settled is not None and self.stirred is not None
        tried = _counts(present, self.settled, self.stirred) if first and self.settled is not None else []
        return [*tried, *_counts(present, self.values, None)]

    def _present(self) -> torch.Tensor | None:
        tensor = self.ref()
        if tensor is None or is_freed(tensor) or (tensor.shape, tensor.dtype) != (self.shape, self.values.dtype):
            return None
        return values_of(tensor).reshape(-1)[self.places] if tensor.device == self.values.device else None


class Standstill:
    """Records ``unchanged_share`` per parameter: of elements that had a gradient, how many are as they were at first.

    It looks at an optimizer's first step, and some steps later; again only at parameters that hardly moved. Weights are
    compared as the first forward after a step finds them: as a step begins they may be moved for a while, as those of
    SAM are, and as it ends something may be about to write them back. Where no model is called, they are at the steps.
    What a forward found counts once the same optimizer steps again: between two optimizers of one model, as where it is
    pruned and trained further, others may have changed it.
    """

    def __init__(self, cast: Cast) -> None:
        self._cast = cast
        self._recorder: Recorder | None = None
        self._taps: Taps | None = None
        self._samples: dict[int, tuple[int, list[_Sample]]] = {}
        self._shares: dict[int, list[float]] = {}  # found at a forward, of optimizers that have not stepped since
        self._fresh: set[int] = set()
        self._waits = False  # whether no forward came since the last step

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Listen for optimizer steps."""
        self._taps, self._recorder = taps, recorder
        taps.on("step_begin", self._look)
        taps.on("root_begin", self._called)

    def flush(self, step: int) -> None:
        """Rest until the next look, for good when all parameters have moved."""
        self._waits = True
        if self._taps is None or not self._samples:
            return
        if self._fresh:
            return  # the next forward finds what the first step has left
        waiting = [first for first, samples in self._samples.values() if samples]
        self._taps.rest(self, until=next_look(step) if waiting else NEVER - 1)

    def detach(self) -> None:
        """Look a last time, and let go of everything."""
        for key in self._samples:
            self._compare(key)
            self._tell(key)
        self._samples.clear()
        self._recorder = None

    def _look(self, optimizer: torch.optim.Optimizer, frame: FrameType) -> None:
        entry = self._cast.optimizer(optimizer)
        key = id(entry)
        if key in self._samples:
            if self._waits:
                self._compare(key)
            self._rename(key, optimizer, entry.names)
            self._tell(key)
            first, samples = self._samples[key]
            self._samples[key] = first, [each.stir() for each in samples]
        elif self._recorder is not None:
            named = _named(optimizer, entry.names)
            take = _sample if any(each.grad is not None for _, each in named) else _blind_sample
            samples = [found for name, each in named if (found := take(name, each)) is not None]
            if samples:
                self._hand_over({id(each.ref()) for each in samples})
                self._samples[key] = self._recorder.step, samples
                self._fresh.add(key)

    def _hand_over(self, owned: set[int]) -> None:
        """Compare no more what another optimizer trains from here on."""
        for key, (first, samples) in self._samples.items():
            left = [each for each in samples if id(each.ref()) not in owned]
            if len(left) < len(samples):
                self._samples[key] = first, left
                self._shares.pop(key, None)

    def _rename(self, key: int, optimizer: torch.optim.Optimizer, names: tuple[str, ...]) -> None:
        """Call what was taken before the first forward by the names that the model has given it since."""
        first, samples = self._samples[key]
        if any(each.blind for each in samples):
            known = {id(parameter): name for name, parameter in _named(optimizer, names)}
            renamed = [each._replace(name=known.get(id(each.ref()), each.name)) for each in samples]
            self._samples[key] = first, renamed

    def _called(self, module: nn.Module, args: Any, kwargs: Any, frame: FrameType) -> None:
        """Compare the weights with which the first forward after a step is made."""
        if not self._waits or self._taps is None or not self._taps.grad_enabled:
            return
        self._waits = False
        for key, (first, samples) in self._samples.items():
            if key in self._fresh:
                self._samples[key] = first, [each.settle() for each in samples]
            else:
                self._compare(key)
        self._fresh.clear()

    def _compare(self, key: int) -> None:
        first, samples = self._samples[key]
        if self._recorder is None or not samples or self._recorder.step - first < FEWEST_STEPS * len(self._samples):
            return
        self._shares[key] = _unchanged(samples)

    def _tell(self, key: int) -> None:
        """Hand over what was found, and go on with what hardly moved."""
        shares = self._shares.pop(key, None)
        if self._recorder is None or shares is None:
            return
        first, samples = self._samples[key]
        self._recorder.append("unchanged_share", shares, tuple(each.name for each in samples))
        self._samples[key] = first, [each for each, share in zip(samples, shares, strict=True) if share > STILL]


def _named(optimizer: torch.optim.Optimizer, names: tuple[str, ...]) -> list[tuple[str, torch.Tensor]]:
    owners = (parameter for group in optimizer.param_groups for parameter in group["params"])
    return list(zip(names, owners, strict=True))[:MOST_PARAMETERS]


def _unchanged(samples: list[_Sample]) -> list[float]:
    """Return the share of each sample's elements that are the same bits; NaN where that says nothing."""
    counts = [each.counts() for each in samples]
    values = iter(fetch([number for each in counts for number in each]))
    pairs = [[(next(values), next(values)) for _ in each[::2]] for each in counts]
    return [next((same / count for count, same in each if count), math.nan) for each in pairs]


def _counts(present: torch.Tensor, before: torch.Tensor, among: torch.Tensor | None) -> list[torch.Tensor]:
    """Return how many elements are free to move, and how many of these did not.

    Zeros may be held there by a mask, and elements as large as the largest by a bound.
    """
    sizes = before.abs()
    free = (sizes > 0) & (sizes < sizes.max())
    free = free if among is None else free & among
    return [free.sum(), ((present == before) & free).sum()]


def _sample(name: str, parameter: torch.Tensor) -> _Sample | None:
    gradient = parameter.grad
    if gradient is None or gradient.layout is not torch.strided or parameter.layout is not torch.strided:
        return None
    if not is_measurable(parameter) or gradient.is_complex() or not parameter.numel():
        return None
    held, pushed = values_of(parameter), values_of(gradient)  # of a tensor that is spread over ranks, this rank's part
    if not is_stored(held) or not is_stored(pushed):
        return None
    flat = pushed.reshape(-1)
    stride = max(1, -(-flat.numel() // MOST_SEARCHED))
    found = torch.nonzero(flat[::stride])[:, 0] * stride
    if not found.numel():
        return None
    places = found[:: -(-found.numel() // MOST_ELEMENTS)]
    values = held.reshape(-1)[places].clone()
    return _Sample(name, weakref.ref(parameter), parameter.shape, places, values)


def _blind_sample(name: str, parameter: torch.Tensor) -> _Sample | None:
    if parameter.layout is not torch.strided or not is_measurable(parameter) or not parameter.numel():
        return None
    held = values_of(parameter)
    if not parameter.requires_grad or not is_stored(held):
        return None
    stride = -(-held.numel() // MOST_ELEMENTS)
    places = torch.arange(0, held.numel(), stride, device=held.device)
    return _Sample(name, weakref.ref(parameter), parameter.shape, places, held.reshape(-1)[places].clone(), blind=True)
