"""This file is the wrappers around the methods by which the host reads a tensor's values; on for a few steps only."""

from typing import Any

from torchmagic.probes.function_wrappers import Relays, relay_at
from torchmagic.probes.sites import hide_ours, is_users
from torchmagic.probes.tracing import is_compiling
from torchmagic.probes.wrappers import Switchboard, frame_at, named_like

# Methods of tensors that wait for the values; ``f"{loss:.3f}"`` reads by ``item``, inside torch.
READS = ("item", "tolist", "numpy", "cpu", "__float__", "__int__", "__bool__", "__index__", "__format__")


def wrap_read(taps: Switchboard, original: Any) -> Any:
    """Wrap a method that reads a tensor's values, and tell of it where the user's own line calls it."""
    name = original.__name__
    relays: Relays = {}

    def read(tensor: Any, *args: Any, **kwargs: Any) -> Any:
        frame = frame_at(1)
        if taps.quiet or is_compiling():
            return original(tensor, *args, **kwargs)
        if is_users(frame):
            taps.emit("host_read", tensor, name, frame)
        try:
            return relay_at(frame, relays)(original, (tensor, *args), kwargs)  # torch warns of some reads, at the line
        except BaseException as error:
            hide_ours(error)
            raise

    return named_like(read, original)
