"""This file is the thread that writes a training's log: who logs hands over a record and goes on."""

import atexit
import logging
import os
import sys
import threading
from contextlib import suppress
from copy import copy
from logging.handlers import QueueHandler, QueueListener
from queue import SimpleQueue
from typing import Any
from weakref import WeakSet

from torchmagic.api.training_logs.entry import ATTRIBUTE, Entry, entry
from torchmagic.api.training_logs.json_file import JsonFile
from torchmagic.api.training_logs.plain_values import plain
from torchmagic.session.fork_safe_lock import ForkSafeLock

# What may wait for a slow disk, in values of some 100 bytes; beyond, records below WARNING are lost, and then all.
MOST_WAITING, MOST_WAITING_WARNINGS = 300_000, 400_000
# A record without fields weighs as much as so many values.
RECORD = 10
# The end of a training waits no longer than this for a disk that does not answer; the thread goes on behind it.
LONGEST_WAIT = 2.5
# The end of the process waits so many times as long, as long as lines are still being written.
ROUNDS_AT_EXIT = 10


class Writing(QueueListener):
    """Hands records to handlers in a thread that lives from the first record to ``stop``; a later one begins another.

    Nothing is waited for but ``stop``. In a process that was forked off there is no thread: who logs writes.

    Args:
        *handlers: Are given the records, each from its level on.

    Attributes:
        num_lost: Records that were not taken, because too many waited.
        num_written: Records that the thread has handed on.
    """

    def __init__(self, *handlers: logging.Handler) -> None:
        # It may be put into while it is being put into, as when a logger is let go at an odd moment.
        self._waiting_records: SimpleQueue[logging.LogRecord | None] = SimpleQueue()
        super().__init__(self._waiting_records, *handlers, respect_handler_level=True)
        self.num_lost = self.num_written = 0
        self._told_lost = 0
        self._waiting = 0
        self._changing = ForkSafeLock()
        self._process = os.getpid()
        self._failed = self._ended = False
        self._to_close: tuple[logging.Handler, ...] = ()
        _all.add(self)

    def take(self, record: logging.LogRecord) -> None:
        """Take a record from any thread, and return at once."""
        if os.getpid() != self._process:
            self._handle(record)
            return
        weight = _weight(record)
        most = MOST_WAITING if record.levelno < logging.WARNING else MOST_WAITING_WARNINGS
        with self._changing:
            if self._ended or self._waiting + weight > most:
                self.num_lost += 1
                return
            self._waiting += weight
            self._waiting_records.put(record)
            if self._thread is None:
                self.start()

    def start(self) -> None:
        """Start the thread; where none can be had, records are written at once."""
        thread = threading.Thread(target=self._monitor, name="torchmagic-training-log", daemon=True)
        try:
            thread.start()
        except RuntimeError:  # no more threads, or the interpreter is ending
            self._drain()
        else:
            self._thread = thread

    def stop(self, seconds: float = LONGEST_WAIT) -> None:
        """Have all that waits written and the thread end; wait for that, but not long. Safe to call twice.

        Args:
            seconds: How long to wait; 0 returns at once.
        """
        if os.getpid() != self._process:
            return
        with self._changing:
            thread = self._thread
            if thread is None:
                return
            self.enqueue_sentinel()
        if seconds and thread is not threading.current_thread():
            thread.join(seconds)

    def end(self, own: tuple[logging.Handler, ...], seconds: float = LONGEST_WAIT) -> None:
        """Take no more records, and close handlers once all is written; safe to call twice.

        Args:
            own: The handlers to close; others are their owners'.
            seconds: As for ``stop``.
        """
        with self._changing:
            self._ended, self._to_close = True, own
            is_going_on = self._thread is not None and os.getpid() == self._process
        if is_going_on:
            self.stop(seconds)
        else:
            self._rest()

    def add_handler(self, handler: logging.Handler) -> None:
        """Hand later records to one more handler, before all others."""
        self.handlers = (handler, *self.handlers)

    def remove_handler(self, handler: logging.Handler) -> None:
        """Hand it nothing more."""
        self.handlers = tuple(each for each in self.handlers if each is not handler)

    def handle(self, record: logging.LogRecord) -> None:
        """Hand a record to the handlers."""
        self._handle(record)
        with self._changing:
            self.num_written += 1
            self._waiting -= _weight(record)
            lost, self._told_lost = self.num_lost - self._told_lost, self.num_lost
        if lost:
            self._handle(_lost(record.name, lost))

    def _handle(self, record: logging.LogRecord) -> None:
        for handler in self.handlers:
            if record.levelno >= handler.level:
                try:
                    handler.handle(record)
                except Exception as error:  # noqa: BLE001 - the wall: a handler of the user's may raise; the thread goes on
                    self._say_once(handler, error)

    def _monitor(self) -> None:
        ends = False  # asked once, it ends as soon as nothing waits: what comes meanwhile asks for nothing
        while True:
            record = self._waiting_records.get()
            if record is not None:
                self.handle(record)
            ends = ends or record is None
            if ends and self._waiting_records.empty():
                self._rest()
                with self._changing:  # what came since then is written first
                    if self._waiting_records.empty():
                        self._thread = None
                        return

    def _rest(self) -> None:
        """Leave no file open."""
        for handler in self.handlers:
            if isinstance(handler, JsonFile):
                handler.rest()
        to_close, self._to_close = self._to_close, ()
        for handler in to_close:
            handler.close()

    def _drain(self) -> None:
        while not self._waiting_records.empty():
            record = self._waiting_records.get()
            if record is not None:
                self.handle(record)

    def _say_once(self, handler: logging.Handler, error: Exception) -> None:
        if not self._failed and sys.stderr is not None:
            with suppress(OSError, ValueError):
                line = f"torchmagic: the log's handler {handler!r} fails ({type(error).__name__}: {error})"
                print(line, file=sys.stderr)  # noqa: T201 - logging itself is what failed
        self._failed = True


class Intake(QueueHandler):
    """Makes of a record what may wait: its text, and nothing of the user's.

    Args:
        writing: Is handed the records.
    """

    def __init__(self, writing: Writing) -> None:
        super().__init__(writing.queue)
        self._writing = writing

    def prepare(self, record: logging.LogRecord) -> logging.LogRecord:
        """Return a copy with its message finished; what a person logs to the logger directly comes as it is."""
        text = plain(record.getMessage())
        record = copy(record)
        record.msg, record.args, record.stack_info = text, None, None
        error = record.exc_info[1] if record.exc_info else None
        if not isinstance(getattr(record, ATTRIBUTE, None), Entry):
            vars(record)[ATTRIBUTE] = entry("log", error=error)
        record.exc_info = record.exc_text = None
        return record

    def enqueue(self, record: logging.LogRecord) -> None:
        """Hand the record over."""
        self._writing.take(record)


def _weight(record: logging.LogRecord) -> int:
    told: Entry | None = getattr(record, ATTRIBUTE, None)
    return RECORD + len(record.msg) // 64 + (told.weight if told else 0)


def _lost(logger: str, number: int) -> logging.LogRecord:
    said = f"{number:,} records are lost: they came faster than they could be written"
    values: dict[str, Any] = {"name": logger, "levelno": logging.WARNING, "levelname": "WARNING", "msg": said}
    return logging.makeLogRecord({**values, ATTRIBUTE: entry("records_lost", fields={"number": number})})


_all: WeakSet[Writing] = WeakSet()


@atexit.register
def _write_the_rest() -> None:
    """Write what waits when the process ends."""
    for writing in tuple(_all):
        for _ in range(ROUNDS_AT_EXIT):
            before = writing.num_written
            writing.stop()
            if writing.num_written == before:  # all is written, or the disk does not answer
                break
