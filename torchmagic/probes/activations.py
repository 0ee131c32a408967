"""This file measures activations: what each innermost module gives, on the steps that the pace allows."""

import math
import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np
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
from torchmagic.tensors.alike import MOST_WAITING, Glances, is_small
from torchmagic.tensors.glance import facts_of, pooled, readable, tensors_in
from torchmagic.tensors.presence import is_at_hand
from torchmagic.tensors.reduce import fetch

# Middle and half width of the range in which a saturating module still answers to its input: outside, the slope of
# Sigmoid is below 2%, that of Tanh and Softsign below 4%.
SLOPED: dict[type[nn.Module], tuple[float, float]] = {
    nn.Sigmoid: (0.5, 0.48),
    nn.Tanh: (0.0, 0.98),
    nn.Softsign: (0.0, 0.98),
    nn.Hardsigmoid: (0.5, 0.5),
}


class _Leaf:
    """An innermost module: its path, None where it is not measured, and where it is flat."""

    def __init__(self, module: nn.Module, path: str | None) -> None:
        self.ref = weakref.ref(module)
        self.path = path
        self.sloped = _sloped(module)


class _Output(list[Any]):
    """What ``glance`` says of one output: a small one's comes with those of others; of one on a device it lies there.

    Attributes:
        path: Of its module.
        num_values: How many were looked at.
        flat: How many lie beyond the sloped range, of a module that has one.
    """

    __slots__ = ("flat", "num_values", "path")

    def __init__(self, leaf: _Leaf, output: torch.Tensor, glances: Glances, *, is_copy: bool = False) -> None:
        self.flat: Sequence[Any] = ()
        if is_copy:
            glances.wait(values := output, self)
        else:
            values = glances.take(output, self)
        self.path, self.num_values = leaf.path or "", values.numel()
        if leaf.sloped is not None:
            middle, half = leaf.sloped
            flat = torch.count_nonzero((values - middle).abs_() >= half)
            self.flat = (flat.item() if flat.is_cpu else flat,)


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
        self._glances = Glances()
        # Small outputs of the newest call of a model, noted shortly: the module and a copy of each.
        self._copies: list[tuple[_Leaf, torch.Tensor]] = []
        self._num_copied = 0
        self._call: list[Any] = []  # the stack of that call
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
        if not wanted:  # awake one step early, to have the leaves shown
            self._taps.rest(self, until=step + self._pacer.rest("activations"))

    def detach(self) -> None:
        """Let go of everything."""
        self._look.switch(on=False)
        self._known = {}
        self._outputs = {True: [], False: []}
        self._glances, self._copies, self._call = Glances(), [], []

    def sees_shortly(self, module: nn.Module, output: Any) -> bool:
        """Take in a small output of a known module of a model under way; False for any other."""
        began = now()
        look, leaf, call = self._look, self._known.get(id(module)), self._taps.stack
        if leaf is None or leaf.path is None or leaf.ref() is not module or not (look.is_on and is_at_hand(output)):
            return False
        if not is_small(output):
            return False
        if call is not self._call or self._num_copied >= MOST_WAITING:
            self._take_copies()
            self._call, self._newest = call, is_training(call[0])
        self._copies.append((leaf, output.detach().clone()))
        self._num_copied += output.numel()
        look.seen += 1
        look.took += now() - began
        return True

    def _take_copies(self) -> None:
        """Take in what was noted shortly."""
        outputs, glances = self._outputs[self._newest], self._glances
        for leaf, copy in self._copies:
            outputs.append(_Output(leaf, copy, glances, is_copy=True))
        self._copies, self._num_copied, self._call = [], 0, []

    def _choose(self, tensors: Any, frame: Any) -> None:
        if self._look.is_on:
            self._training = self._newest

    def _see(self, module: nn.Module, args: Any, output: Any) -> None:
        if not self._look.counts():
            return
        began = now()
        self._take_copies()
        leaf = self._known.get(id(module))
        if leaf is None or leaf.ref() is not module:
            leaf = self._known[id(module)] = self._meet(module, args, output)
        first = output if type(output) is torch.Tensor else next(iter(tensors_in(output)), None)
        if leaf.path is not None and first is not None and readable(first):
            self._newest = is_training(self._taps.stack[0] if self._taps.stack else module)
            self._outputs[self._newest].append(_Output(leaf, first, self._glances))
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
        self._take_copies()
        self._glances.finish()
        outputs = self._outputs[self._newest if self._training is None else self._training]
        if outputs and self._recorder is not None:
            self._hand_over(outputs, self._recorder)
        self._outputs = {True: [], False: []}
        self._training = None
        self._pacer.pay("activations", now() - began + self._look.cost())

    def _hand_over(self, outputs: list[_Output], recorder: Recorder) -> None:
        far = [output for output in outputs if isinstance(output[0], torch.Tensor)]
        fetched = iter(fetch([scalar for output in far for scalar in (*output, *output.flat)]) if far else ())
        for output in far:
            output[:], output.flat = [next(fetched) for _ in output], [next(fetched) for _ in output.flat]
        calls: dict[str, list[_Output]] = {}
        for output in outputs:
            calls.setdefault(output.path, []).append(output)
        paths = tuple(calls)
        rows = _apart(outputs) if len(paths) == len(outputs) else [*zip(*map(_together, calls.values()), strict=True)]
        for name, row in zip(("mean", "std", "abs_max", "zero_share", "nonfinite"), rows, strict=True):
            recorder.append(f"activation_{name}", row, paths)
        flat = {path: sum(each for one in found for each in one.flat) for path, found in calls.items() if found[0].flat}
        if flat:
            shares = [total / sum(one.num_values for one in calls[path]) for path, total in flat.items()]
            recorder.append("activation_saturation", shares, tuple(flat))


def _apart(outputs: Sequence[_Output]) -> list[list[float]]:
    """Return the statistics of modules that were called once in a step: five rows, of one number a module."""
    counts = np.array([output.num_values for output in outputs])
    totals, lengths, lows, highs, zeros, finite = np.array(outputs).T
    with np.errstate(all="ignore"):
        peaks = np.maximum(-lows, highs)
    return [
        each.tolist() for each in (totals / counts, lengths / np.sqrt(counts), peaks, zeros / counts, counts - finite)
    ]


def _together(outputs: Sequence[_Output]) -> list[float]:
    """Return the five statistics of all calls of a module in a step."""
    counts = [output.num_values for output in outputs]
    totals, lengths, lows, highs, zeros, finite = zip(*outputs, strict=True)
    mean, deviation = pooled(counts, totals, lengths)
    ends = (*lows, *highs)
    peak = math.nan if any(map(math.isnan, ends)) else max(map(abs, ends))
    return [mean, deviation, peak, sum(zeros) / sum(counts), sum(counts) - sum(finite)]


def _sloped(module: nn.Module) -> tuple[float, float] | None:
    """Return middle and half width of the range in which a module is not flat; None for one that does not saturate."""
    if isinstance(module, nn.ReLU6):
        return 0.0, 6.0  # below zero it is a rectifier, and its zeros tell
    if isinstance(module, nn.Hardtanh):
        return (module.min_val + module.max_val) / 2, (module.max_val - module.min_val) / 2
    return next((sloped for kind, sloped in SLOPED.items() if isinstance(module, kind)), None)
