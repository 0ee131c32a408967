"""This file is a lock that a forked process finds open, whoever held it in the process that it came from."""

import os
import threading


class ForkSafeLock:
    """A lock for ``with``; one thread may enter it several times."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._process = os.getpid()

    def __enter__(self) -> None:
        if self._process != os.getpid():
            self._lock, self._process = threading.RLock(), os.getpid()
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()
