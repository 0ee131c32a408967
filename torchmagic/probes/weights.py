"""This file measures weights and updates: how large the parameters are, and how far a step moves them."""

from types import FrameType

import torch

from torchmagic.probes.cast import Cast
from torchmagic.probes.pacing import Pacer
from torchmagic.probes.taps import Taps
from torchmagic.probes.wrappers import now
from torchmagic.session.recorder import Recorder
from torchmagic.tensors.reduce import norms

# A copy of more than this many bytes is not taken: a model that fills the machine must not be doubled.
MOST_BYTES_COPIED = 1 << 30


class Weights:
    """Records ``weight_norm`` and ``update_ratio`` (norm of the step's change over norm of the weights before it)."""

    def __init__(self, cast: Cast, pacer: Pacer) -> None:
        self._cast, self._pacer = cast, pacer
        self._recorder: Recorder | None = None
        self._before: list[torch.Tensor] = []
        self._took = 0

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Listen for optimizer steps."""
        self._recorder = recorder
        taps.on("step_begin", self._copy)
        taps.on("step_end", self._compare)

    def flush(self, step: int) -> None:
        """Nothing waits: rows are handed over as the step ends."""

    def detach(self) -> None:
        """Let go of the copy."""
        self._before = []

    def _copy(self, optimizer: torch.optim.Optimizer, frame: FrameType) -> None:
        self._before = []
        if not self._pacer.wants("updates"):
            return
        began = now()
        weights = self._weights(optimizer)
        if weights and sum(w.numel() * w.element_size() for w in weights) <= MOST_BYTES_COPIED:
            self._before = [weight.clone() for weight in weights]
        self._took = now() - began

    def _compare(self, optimizer: torch.optim.Optimizer, nanoseconds: int) -> None:
        before, self._before = self._before, []
        if not before or self._recorder is None:
            return
        began = now()
        weights = self._weights(optimizer)
        if len(weights) == len(before):
            found = norms([*before, *torch._foreach_sub(weights, before)])
            lengths, moved = found[: len(before)], found[len(before) :]
            names = self._cast.optimizer(optimizer).names
            self._recorder.append("weight_norm", lengths, names)
            ratios = [
                move / length if length else float("inf") if move else 0.0
                for move, length in zip(moved, lengths, strict=True)
            ]
            self._recorder.append("update_ratio", ratios, names)
        self._pacer.pay("updates", now() - began + self._took)

    def _weights(self, optimizer: torch.optim.Optimizer) -> list[torch.Tensor]:
        found = [ref() for ref in self._cast.optimizer(optimizer).refs]
        return [tensor.detach() for tensor in found if tensor is not None]
