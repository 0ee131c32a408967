"""This file is the wrapper that sees, with an older torch, whether what graphs save is packed by hooks."""

from typing import Any

import torch

from torchmagic.probes.graph_walk import READABLE, Packing
from torchmagic.probes.wrappers import Switchboard, named_like

# Where the hooks of the user's, of offloading and of checkpointing are put on.
SAVING = () if READABLE else ((torch.autograd.graph.saved_tensors_hooks, "__enter__"),)


def wrap_saving(taps: Switchboard, original: Any) -> Any:
    """Wrap what puts hooks on saved tensors: from then on none is unpacked by us, which would call such a hook."""

    def __enter__(hooks: Any) -> Any:  # noqa: N807 - it takes that name's place
        if not taps.quiet:
            Packing.was_seen = True
        return original(hooks)

    return named_like(__enter__, original)
