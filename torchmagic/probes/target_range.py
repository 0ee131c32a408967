"""This file watches the targets of a binary cross-entropy with logits, which takes any without a word."""

from types import FrameType
from typing import Any

import torch

from torchmagic.probes.expressions import arguments
from torchmagic.probes.overriding import overrides_functions
from torchmagic.probes.pacing import next_look
from torchmagic.probes.sites import place_of, site_of, user_frame
from torchmagic.probes.taps import Taps
from torchmagic.records.crash import TargetRangeRecord
from torchmagic.session.recorder import Recorder
from torchmagic.tensors.presence import is_stored

LOSS = "binary_cross_entropy_with_logits"
# The first batches are looked at, then those at steps that are powers of two; so many records are enough.
FIRST_BATCHES, MOST_RECORDS = 8, 8
# How far a target may lie outside of 0 to 1 before it is told: beyond rounding, and below what anybody means.
TOLERANCE = 1e-3
# Losses of a prediction and its label, which may have changed places.
BINARY = frozenset({LOSS, "binary_cross_entropy"})
# A larger target is looked at by its first rows.
MOST_VALUES = 1 << 16


class TargetRange:
    """Records ``TargetRangeRecord`` for a batch with targets outside of 0 to 1, or with labels as the prediction.

    Losses that are weighted or not reduced are left out: there a target can mark what is masked afterwards.
    """

    def __init__(self) -> None:
        self._taps: Taps | None = None
        self._recorder: Recorder | None = None
        self._looked = self._told = 0

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Listen for losses."""
        self._taps, self._recorder = taps, recorder
        taps.on("loss", self._compared)

    def flush(self, step: int) -> None:
        """Rest until the next look."""
        if self._taps is not None and self._looked >= FIRST_BATCHES:
            self._taps.rest(self, until=next_look(step))

    def detach(self) -> None:
        """Nothing to let go of."""

    def _compared(self, name: str, args: Any, kwargs: Any, output: Any, frame: FrameType) -> None:
        target = args[1] if len(args) > 1 else kwargs.get("target")
        given = args[0] if args else kwargs.get("input")
        swapped = _needs_gradient(target) and isinstance(given, torch.Tensor) and not given.requires_grad
        hard = swapped and name in BINARY and _is_hard(given)
        if name != LOSS and not hard:
            self._looked += 1
            return
        weighted = (args[2] if len(args) > 2 else kwargs.get("weight")) is not None  # noqa: PLR2004 - the third one
        masked = weighted or kwargs.get("reduction") == "none"
        if (masked and not swapped) or not _is_plain(target) or self._told >= MOST_RECORDS:
            return
        self._looked += 1
        if target.numel() > MOST_VALUES:
            target = target.detach().reshape(-1)[:MOST_VALUES]
        low, high = (float(each) for each in torch.aminmax(target.detach()))
        if low >= -TOLERANCE and high <= 1 + TOLERANCE and not hard:
            return
        self._tell(name, target, low, high, frame, swapped=swapped)

    def _tell(
        self, loss: str, target: torch.Tensor, low: float, high: float, frame: FrameType, *, swapped: bool
    ) -> None:
        if self._recorder is None or not (low == low and high == high):  # noqa: PLR0124 - NaN is another matter
            return
        self._told += 1
        user = user_frame(frame)
        words = arguments(user) if user is not None else ()
        self._recorder.add(
            TargetRangeRecord(
                step=self._recorder.step,
                loss=loss,
                low=low,
                high=high,
                num_bad=int(((target < -TOLERANCE) | (target > 1 + TOLERANCE)).sum()),
                num_values=target.numel(),
                target=words[1] if len(words) > 1 else "",
                place=place_of(site_of(frame)),
                reversed=swapped,
            )
        )


def _is_hard(given: Any) -> bool:
    """Whether a prediction is nothing but zeros and ones, as labels are."""
    if not _is_plain(given):
        return False
    some = given.detach().reshape(-1)[:MOST_VALUES]
    return bool(((some == 0) | (some == 1)).all())


def _needs_gradient(tensor: Any) -> bool:
    """Whether it is a tensor through which a gradient goes on."""
    return isinstance(tensor, torch.Tensor) and tensor.requires_grad


def _is_plain(target: Any) -> bool:
    """Whether a target's values can be read at once."""
    return (
        isinstance(target, torch.Tensor)
        and target.layout is torch.strided
        and is_stored(target)
        and target.is_floating_point()
        and target.numel() > 0
        and not overrides_functions(target)
    )
