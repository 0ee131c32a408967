"""This file is the wrapper that sees, with an older torch, whether what graphs save is packed by hooks."""

from typing import Any

from torchmagic.probes.graph_walk import Packing
from torchmagic.probes.wrappers import Switchboard, named_like


def wrap_saving(taps: Switchboard, original: Any) -> Any:
    """Wrap what puts hooks on saved tensors: from then on none is unpacked by us, which would call such a hook."""

    def __enter__(hooks: Any) -> Any:  # noqa: N807 - it takes that name's place
        if not taps.quiet:
            Packing.was_seen = True
        return original(hooks)

    return named_like(__enter__, original)
