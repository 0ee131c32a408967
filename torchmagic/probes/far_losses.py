"""This file is the far losses: those of a step that lie on a device, read by the transfer that brings its norm."""

import math
import weakref
from functools import partial

import torch

from torchmagic.probes.riders import Riders
from torchmagic.tensors.reduce import fetch


class FarLosses:
    """Knows, without a wait of its own, the first loss of a step that is not finite.

    Args:
        riders: Where values wait on a device until the gradients' norm is fetched from there.

    Attributes:
        waits: Whether a loss of this step has not been read.
    """

    def __init__(self, riders: Riders) -> None:
        self._riders = riders
        self._bad: torch.Tensor | None = None
        self.waits = False

    def add(self, loss: torch.Tensor) -> None:
        """Have a loss wait; one without values, as on the meta device, is left alone."""
        value = loss.detach()
        if value.is_meta or value.layout is not torch.strided:
            return
        value = value.abs() if value.is_complex() else value
        value = value.reshape(()) if value.numel() == 1 else value.sum()
        self.waits = True
        self._riders.add(value, partial(self._arrive, weakref.ref(loss), value))

    def _arrive(self, loss: "weakref.ref[torch.Tensor]", value: torch.Tensor, number: float) -> None:
        self.waits = False
        if self._bad is None and not math.isfinite(number):
            kept = loss()
            self._bad = value if kept is None else kept

    def bad(self) -> torch.Tensor | None:
        """Return the first loss that is not finite, or its value alone where it is gone; fetches what still waits."""
        if self.waits:
            self._riders.arrive(fetch(self._riders.tensors))
        return self._bad

    def clear(self) -> None:
        """Forget the step's losses."""
        self._bad = None
