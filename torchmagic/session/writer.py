"""This file is the writer: the thread that brings open runs to the store each second, so that training never waits."""

import atexit
import os
import threading
import time
from collections.abc import Callable, Sequence

from torchmagic.session.run import Run

# A killed process loses at most a second of a run: what is left of it is for the writing itself.
SECONDS_BETWEEN_WRITES = 0.8
# Findings may come one behind the other; so much lies between two writes at least.
LEAST_SECONDS_BETWEEN = 0.05
# The end of a cell waits no longer than this for a disk that does not answer; the thread goes on trying behind it.
LONGEST_WAIT = 2.5
# So long the end of a cell waits for the thread to be gone, once the run is written.
FAREWELL = 0.25


class Writer:
    """Hands open runs to a function, again and again, from a thread that lives as long as one of them is open.

    Nothing is copied and nothing piles up: what waits to be written is the run itself.

    Args:
        write: Writes what is new in runs; from which thread does not matter, never from two at once. Never raises.
        settle: Called when the last open run is written.
    """

    def __init__(self, write: Callable[[Sequence[Run]], None], settle: Callable[[], None]) -> None:
        self._write, self._settle = write, settle
        self._open: dict[str, Run] = {}
        self._ended: dict[str, threading.Event] = {}
        self._changing = threading.Lock()
        self._writing = threading.Lock()
        self._wake, self._hurry = threading.Event(), threading.Event()
        self._thread: threading.Thread | None = None
        self._process = os.getpid()
        self._written = 0.0

    def has(self, run: Run) -> bool:
        """Whether the thread writes the run, with nothing left to be done by the caller."""
        return run.id in self._open and self._thread is not None

    @property
    def open(self) -> tuple[str, ...]:
        """The ids of the open runs."""
        return tuple(self._open)

    def follow(self, run: Run, *, urgent: bool = False) -> None:
        """Write the run from now on each second, and soon if it is urgent."""
        with self._changing:
            self._open[run.id] = run
            self._begin()
            thread = self._thread
        if urgent:
            self._wake.set()
        if thread is None and (urgent or time.monotonic() - self._written > SECONDS_BETWEEN_WRITES):
            self._write_all()

    def finish(self, run: Run) -> None:
        """Write the run for the last time, and wait for that, but not long."""
        done = threading.Event()
        with self._changing:
            self._open[run.id] = run
            self._ended[run.id] = done
            self._begin()
            thread = self._thread
        if thread is None:
            self._write_all()
            self._settle()
            return
        self._hurry.set()
        self._wake.set()
        if done.wait(LONGEST_WAIT) and not self._open:
            thread.join(FAREWELL)

    def stop(self) -> None:
        """Write what is open once more, and end the thread; a later run begins another."""
        if self._process != os.getpid():  # the thread stayed with the parent
            return
        with self._changing:
            thread, self._thread = self._thread, None
            atexit.unregister(self.stop)
        if thread is not None and thread is not threading.current_thread():
            self._hurry.set()
            self._wake.set()
            thread.join(LONGEST_WAIT)

    def _begin(self) -> None:
        """Start the thread where none goes; where none can, the training thread writes by itself."""
        if self._thread is not None:
            return
        self._thread = threading.Thread(target=self._go_on, name="torchmagic-writer", daemon=True)
        try:
            self._thread.start()
        except RuntimeError:  # no more threads to be had, or the interpreter is ending
            self._thread = None
        else:
            atexit.register(self.stop)

    def _go_on(self) -> None:
        mine = threading.current_thread()
        while True:
            self._wake.clear()
            began = time.monotonic()
            self._write_all()
            if self._thread is not mine:
                break
            self._wake.wait(max(0.0, began + SECONDS_BETWEEN_WRITES - time.monotonic()))
            self._hurry.wait(max(0.0, began + LEAST_SECONDS_BETWEEN - time.monotonic()))
        with self._writing:
            self._settle()

    def _write_all(self) -> None:
        """Write all open runs and let those go that have ended; the last of them takes the thread with it."""
        with self._changing:
            runs, ended = tuple(self._open.values()), dict(self._ended)
            self._hurry.clear()
        with self._writing:
            self._write(runs)
        self._written = time.monotonic()
        with self._changing:
            for run_id in ended:
                self._open.pop(run_id, None)
                self._ended.pop(run_id, None)
            if not self._open and self._thread is not None:
                self._thread = None
                atexit.unregister(self.stop)
        for done in ended.values():
            done.set()
