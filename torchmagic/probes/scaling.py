"""This file is the scaling: which loss a GradScaler's scaled tensor stands for."""

import weakref
from typing import Any

import torch

from torchmagic.probes.listeners import Listeners
from torchmagic.probes.taps import Taps


class Scaling:
    """Remembers the newest pair of a scaled loss and the loss itself, without keeping either alive."""

    def __init__(self) -> None:
        self.pair: tuple[weakref.ref[torch.Tensor], weakref.ref[torch.Tensor]] | None = None
        self._listeners: Listeners | None = None

    def attach(self, taps: Taps) -> None:
        """Listen for scalers."""
        self._listeners = taps.listeners
        taps.on("scaled", self._scaled)

    def unscaled(self, tensor: torch.Tensor) -> torch.Tensor | None:
        """Return the loss that a tensor was scaled from, the tensor itself when it was not scaled.

        None when the loss is gone.
        """
        return self.pair[1]() if self.pair is not None and self.pair[0]() is tensor else tensor

    def _scaled(self, loss: Any, scaled: Any) -> None:
        if isinstance(loss, torch.Tensor) and isinstance(scaled, torch.Tensor):
            self.pair = (weakref.ref(scaled), weakref.ref(loss))
            if self._listeners is not None:
                self._listeners.unlike()
