"""This file is the wrappers around ``torch.amp.GradScaler``."""

from typing import Any

from torchmagic.probes.wrappers import Switchboard, named_like


def wrap_scale(taps: Switchboard, original: Any) -> Any:
    """Wrap ``GradScaler.scale``, so that a loss is known by its own value."""

    def scale(scaler: Any, outputs: Any) -> Any:
        scaled = original(scaler, outputs)
        taps.emit("scaled", outputs, scaled)
        return scaled

    return named_like(scale, original)
