"""This file is an end that nobody cuts off: a launcher ends all ranks once one failed, and rank 0 is still to tell."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torchmagic.debuggers.watching import Watch


@contextmanager
def undisturbed(watches: "Sequence[Watch]") -> Iterator[None]:
    """Let SIGTERM pass by while a rank's findings are drawn and written, unless the program handles it itself.

    Args:
        watches: The watches that are open; of a program that is no rank nothing is changed.
    """
    told = any(watch.rank.record is not None for watch in watches)
    here = threading.current_thread() is threading.main_thread()
    if not (told and here and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL):
        yield
        return
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
