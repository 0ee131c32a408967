"""This file is the wrappers around what resets gradients: ``zero_grad`` of optimizers and of modules."""

from typing import Any

from torchmagic.probes.tracing import is_compiling
from torchmagic.probes.wrappers import Switchboard, frame_at, named_like


def wrap_zero_grad(taps: Switchboard, original: Any) -> Any:
    """Wrap ``zero_grad``: what is about to be reset is told while the gradients are still there."""
    heard = taps.heard

    def zero_grad(owner: Any, *args: Any, **kwargs: Any) -> Any:
        if heard["reset"] and not (taps.quiet or is_compiling()):
            taps.emit("reset", owner, frame_at(1))
        return original(owner, *args, **kwargs)

    return named_like(zero_grad, original)
