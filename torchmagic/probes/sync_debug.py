"""This file is torch's mode that warns of what waits for CUDA, or refuses it: the user's, and off while we look.

https://docs.pytorch.org/docs/stable/generated/torch.cuda.set_sync_debug_mode.html
"""

from typing import Any

import torch

from torchmagic.probes.sites import hide_ours
from torchmagic.probes.wrappers import Switchboard, named_like


class SyncDebug:
    """What the mode is: it is one for the whole process, and dear to ask for at each event.

    Attributes:
        mode: 0 while it is off, 1 where torch warns, 2 where it raises.
    """

    def __init__(self) -> None:
        self.mode = 0

    def ask(self) -> None:
        """Ask torch; CUDA is not opened for that."""
        opened = torch.cuda.is_initialized()  # type: ignore[no-untyped-call] # torch
        self.mode = torch.cuda.get_sync_debug_mode() if opened else 0

    def switch(self, mode: int) -> None:
        """Have torch in a mode for a while; which one is the user's stays known."""
        torch._C._cuda_set_sync_debug_mode(mode)


SYNC_DEBUG = SyncDebug()


def wrap_sync_debug(_taps: Switchboard, original: Any) -> Any:
    """Wrap what sets the mode: from here on it is known."""

    def set_sync_debug_mode(*args: Any, **kwargs: Any) -> Any:
        try:
            return original(*args, **kwargs)
        except BaseException as error:
            hide_ours(error)
            raise
        finally:
            SYNC_DEBUG.ask()

    return named_like(set_sync_debug_mode, original)
