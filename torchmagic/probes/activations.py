"""This file measures activations: what each innermost module gives, on the steps that the pace allows."""

import math
import weakref
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import nn

from torchmagic.probes.cast import Cast
from torchmagic.probes.leaves import Leaves, Look
from torchmagic.probes.module_parts import is_training, parameters_of
from torchmagic.probes.pacing import Pacer
from torchmagic.probes.taps import Taps
from torchmagic.probes.wrappers import now
from torchmagic.records.activation import ActivationRecord
from torchmagic.session.recorder import Recorder
from torchmagic.tensors.glance import Scalar, facts_of, glance, pooled, readable, sample, tensors_in
from torchmagic.tensors.reduce import fetch

# Middle and half width of the range in which a saturating module still answers to its input: outside, the slope of
# Sigmoid is below 2%, that of Tanh and Softsign below 4%.
SLOPED: dict[type[nn.Module], tuple[float, float]] = {
    nn.Sigmoid: (0.5, 0.48),
    nn.Tanh: (0.0, 0.98),
    nn.Softsign: (0.0, 0.98),
    nn.Hardsigmoid: (0.5, 0.5),
}
# Statistics of one output, as ``glance`` gives them, and the number of values beyond the sloped range.
SUM, LENGTH, LOW, HIGH, ZEROS, FINITE, FLAT = range(7)


class _Leaf:
    """An innermost module: its path, None where it is not measured, and where it is flat."""

    def __init__(self, module: nn.Module, path: str | None) -> None:
        self.ref = weakref.ref(module)
        self.path = path
        self.sloped = _sloped(module)


class _Output:
    """The statistics of one output; of one that lies on a device, they do too."""

    __slots__ = ("count", "path", "scalars")

    def __init__(self, leaf: _Leaf, output: torch.Tensor) -> None:
        values = sample(output.detach())
        self.path, self.count = leaf.path or "", values.numel()
        self.scalars: tuple[Scalar, ...] = glance(values)
        if leaf.sloped is not None:
            middle, half = leaf.sloped
            flat = torch.count_nonzero((values - middle).abs_() >= half)
            self.scalars += (flat.item() if flat.device.type == "cpu" else flat,)


class Activations:
    """Records what modules give, and at first sight of each an ``ActivationRecord``.

    Per module: ``activation_mean``, ``activation_std``, ``activation_abs_max``, ``activation_zero_share``,
    ``activation_nonfinite`` (number of values), and ``activation_saturation`` of modules that saturate (share of values
    in the flat part). They are of all calls in a step, and of a large output's evenly spread sample. Only forwards of
    training count: with gradients on, and in the mode of the forward before ``backward``.
    """

    def __init__(self, cast: Cast, taps: Taps, leaves: Leaves, pacer: Pacer) -> None:
        self._cast, self._taps, self._pacer = cast, taps, pacer
        self._look = Look(leaves, taps)
        self._recorder: Recorder | None = None
        self._known: dict[int, _Leaf] = {}
        self._outputs: dict[bool, list[_Output]] = {True: [], False: []}
        self._training: bool | None = None
        self._newest = True

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Listen for the innermost modules' outputs."""
        self._recorder = recorder
        taps.on("leaf", self._see)
        taps.on("backward_begin", self._choose)
        self._look.switch(on=True)

    def flush(self, step: int) -> None:
        """Hand over the step's statistics, and decide whether the next step is looked at."""
        if self._look.is_on or self._look.took:
            self._close()
        wanted = self._pacer.wants("activations")
        self._look.switch(on=wanted)

    def detach(self) -> None:
        """Let go of everything."""
        self._look.switch(on=False)
        self._known = {}
        self._outputs = {True: [], False: []}

    def _choose(self, tensors: Any, frame: Any) -> None:
        if self._look.is_on:
            self._training = self._newest

    def _see(self, module: nn.Module, args: Any, output: Any) -> None:
        if not self._look.counts():
            return
        began = now()
        leaf = self._known.get(id(module))
        if leaf is None or leaf.ref() is not module:
            leaf = self._known[id(module)] = self._meet(module, args, output)
        found = tensors_in(output) if leaf.path is not None else ()
        if found and readable(found[0]):
            self._newest = is_training(self._taps.stack[0] if self._taps.stack else module)
            self._outputs[self._newest].append(_Output(leaf, found[0]))
        self._look.took += now() - began

    def _meet(self, module: nn.Module, args: Any, output: Any) -> _Leaf:
        path = self._cast.path_of(module) or self._path_outside(module, output)
        if path is not None and self._recorder is not None:
            self._recorder.add(
                ActivationRecord(
                    module=path,
                    class_name=type(module).__name__,
                    inputs=facts_of(tensors_in(args)),
                    outputs=facts_of(tensors_in(output)),
                )
            )
        return _Leaf(module, path)

    def _path_outside(self, module: nn.Module, output: Any) -> str | None:
        """Return a name for a module that belongs to no model; None for a criterion and in a model not watched."""
        root, outputs = self._taps.stack[0] if self._taps.stack else module, tensors_in(output)
        loose = next(parameters_of(root), None) is None
        watched = loose or self._cast.model_of(root) is not None
        return type(module).__name__ if watched and outputs and outputs[0].dim() else None

    def _close(self) -> None:
        began = now()
        outputs = self._outputs[self._newest if self._training is None else self._training]
        if outputs and self._recorder is not None:
            self._hand_over(outputs, self._recorder)
        self._outputs = {True: [], False: []}
        self._training = None
        self._pacer.pay("activations", now() - began + self._look.cost())

    def _hand_over(self, outputs: list[_Output], recorder: Recorder) -> None:
        waiting = [scalar for output in outputs for scalar in output.scalars if isinstance(scalar, torch.Tensor)]
        fetched = iter(fetch(waiting) if waiting else ())
        calls: dict[str, list[tuple[int, list[float]]]] = {}
        for output in outputs:
            calls.setdefault(output.path, []).append(
                (output.count, [_number(each, fetched) for each in output.scalars])
            )
        paths = tuple(calls)
        rows = [_together(calls[path]) for path in paths]
        for i, name in enumerate(("mean", "std", "abs_max", "zero_share", "nonfinite")):
            recorder.append(f"activation_{name}", [row[i] for row in rows], paths)
        flat = {path: row[5] for path, row in zip(paths, rows, strict=True) if len(row) > 5}  # noqa: PLR2004 - after the five
        if flat:
            recorder.append("activation_saturation", tuple(flat.values()), tuple(flat))


def _number(scalar: Scalar, fetched: Iterator[float]) -> float:
    return next(fetched) if isinstance(scalar, torch.Tensor) else scalar


def _together(calls: Sequence[tuple[int, list[float]]]) -> list[float]:
    """Return the statistics of all calls of a module in a step: five, and the saturation of one that saturates."""
    if len(calls) == 1:
        count, (total, length, low, high, zeros, finite, *flat) = calls[0]
        peak = math.nan if math.isnan(low) or math.isnan(high) else max(-low, high)
        share = [each / count for each in flat]
        return [total / count, length / math.sqrt(count), peak, zeros / count, count - finite, *share]
    counts = [count for count, _ in calls]
    columns = list(zip(*(scalars for _, scalars in calls), strict=True))
    mean, deviation = pooled(counts, columns[SUM], columns[LENGTH])
    ends = (*columns[LOW], *columns[HIGH])
    peak = math.nan if any(map(math.isnan, ends)) else max(map(abs, ends))
    row = [mean, deviation, peak, sum(columns[ZEROS]) / sum(counts), sum(counts) - sum(columns[FINITE])]
    return [*row, sum(columns[FLAT]) / sum(counts)] if len(columns) > FLAT else row


def _sloped(module: nn.Module) -> tuple[float, float] | None:
    """Return middle and half width of the range in which a module is not flat; None for one that does not saturate."""
    if isinstance(module, nn.ReLU6):
        return 0.0, 6.0  # below zero it is a rectifier, and its zeros tell
    if isinstance(module, nn.Hardtanh):
        return (module.min_val + module.max_val) / 2, (module.max_val - module.min_val) / 2
    return next((sloped for kind, sloped in SLOPED.items() if isinstance(module, kind)), None)
