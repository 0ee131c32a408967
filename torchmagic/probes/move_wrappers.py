"""This file is the wrappers around the methods that copy a tensor between host and device; on for a few steps only."""

from typing import Any

import torch

from torchmagic.probes.function_wrappers import Relays, relay_at
from torchmagic.probes.sites import hide_ours, is_users
from torchmagic.probes.tracing import is_compiling
from torchmagic.probes.wrappers import Switchboard, frame_at, named_like, now

# Methods of tensors that may end on another device than they began; ``f"{loss:.3f}"`` reads by ``__format__``.
MOVES = ("to", "cuda", "cpu", "item", "tolist", "__float__", "__int__", "__bool__", "__index__", "__format__")


def wrap_move(taps: Switchboard, original: Any) -> Any:
    """Wrap a method that may copy a tensor to another device, and tell of it where the user's own line calls it."""
    relays: Relays = {}

    def move(tensor: Any, *args: Any, **kwargs: Any) -> Any:
        if is_compiling() or taps.quiet:
            return original(tensor, *args, **kwargs)
        frame, began = frame_at(1), now()
        try:
            output = relay_at(frame, relays)(original, (tensor, *args), kwargs)
        except BaseException as error:
            hide_ours(error)
            raise
        took = now() - began
        if not is_users(frame):
            return output
        target = output.device if isinstance(output, torch.Tensor) else None
        if tensor.device != target and not (target is None and tensor.device.type == "cpu"):
            taps.emit("moved", tensor, output, frame, took)
        return output

    return named_like(move, original)
