"""This file is the end of a program that was interrupted: by the signal, as Python ends one, so that shells stop too.

Python marks an unhandled KeyboardInterrupt and sends itself the signal at the very end; code that atexit runs through
``exec``, as libraries do, takes the mark away again.
"""

import atexit
import os
import signal
import sys


class Interrupted:
    """Sends this process the signal behind all else that it does at its end, once it was told to."""

    def __init__(self) -> None:
        self._process = 0
        atexit.register(self._end)  # what is registered first is called last

    def end_so(self) -> None:
        """End by the signal when everything else is done."""
        self._process = os.getpid()

    def _end(self) -> None:
        if self._process != os.getpid() or os.name != "posix":
            return
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
