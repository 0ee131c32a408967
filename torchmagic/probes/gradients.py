"""This file measures gradients: norms at every step, the rest when the pace allows."""

import math
from types import FrameType
from typing import Any

import torch

from torchmagic.probes.cast import Cast
from torchmagic.probes.pacing import Pacer
from torchmagic.probes.taps import Taps
from torchmagic.probes.wrappers import now
from torchmagic.session.recorder import Recorder
from torchmagic.tensors.reduce import fetch, moments, norms, quick_total, total_norm


class Gradients:
    """Records gradients as the optimizer is about to use them.

    Every step: ``grad_norm`` in total, and ``grad_norm_before_clip`` where the user clips. When the pace allows, and at
    the first step that is not finite: ``grad_norm``, ``grad_mean``, ``grad_std``, ``grad_abs_max`` and
    ``grad_zero_share`` per parameter.
    """

    def __init__(self, cast: Cast, pacer: Pacer) -> None:
        self._cast, self._pacer = cast, pacer
        self._recorder: Recorder | None = None
        self._clips: list[torch.Tensor] = []
        self.total: float | None = None

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Listen for optimizer steps and clipping."""
        self._recorder = recorder
        taps.on("step_begin", self._measure)
        taps.on("clip", self._clipped)

    def flush(self, step: int) -> None:
        """Hand over the norms that clipping answered; the other rows are handed over as the step begins."""
        if self._clips and self._recorder is not None:
            for norm in fetch(self._clips):
                self._recorder.append("grad_norm_before_clip", (norm,))
        self._clips.clear()

    def detach(self) -> None:
        """Let go of everything."""
        self._clips.clear()

    def _clipped(self, norm: Any) -> None:
        if isinstance(norm, torch.Tensor):
            self._clips.append(norm.detach())

    def _measure(self, optimizer: torch.optim.Optimizer, frame: FrameType) -> None:
        self.total = None
        entry = self._cast.optimizer(optimizer)
        names, gradients = [], []
        for name, ref in zip(entry.names, entry.refs, strict=True):
            tensor = ref()
            gradient = tensor.grad if tensor is not None else None
            if gradient is not None and gradient.numel():
                names.append(name)
                gradients.append(gradient)
        if not gradients or self._recorder is None:
            return
        total = math.nan if self._pacer.wants("gradients") else quick_total(gradients, pack=entry.packs)
        if not math.isfinite(total):
            began = now()
            subjects = entry.names if len(names) == len(entry.names) else tuple(names)
            lengths = norms(gradients)
            total = total_norm(lengths)
            self._recorder.append("grad_norm", lengths, subjects)
            self._look_closer(gradients, subjects)
            self._pacer.pay("gradients", now() - began)
        self.total = total
        self._recorder.append("grad_norm", (total,))

    def _look_closer(self, gradients: list[torch.Tensor], subjects: tuple[str, ...]) -> None:
        found = fetch([each for gradient in gradients for each in moments(gradient)])
        means, deviations, peaks, zeros = [], [], [], []
        for i, gradient in enumerate(gradients):
            total, squares, low, high, nonzero = found[5 * i : 5 * i + 5]
            count = max(gradient.numel(), 1)
            mean = total / count
            means.append(mean)
            deviations.append(
                math.sqrt(max(squares / count - mean * mean, 0.0)) if math.isfinite(squares) else math.nan
            )
            peaks.append(max(-low, high))
            zeros.append(1 - nonzero / count)
        if self._recorder is not None:
            self._recorder.append("grad_mean", means, subjects)
            self._recorder.append("grad_std", deviations, subjects)
            self._recorder.append("grad_abs_max", peaks, subjects)
            self._recorder.append("grad_zero_share", zeros, subjects)
