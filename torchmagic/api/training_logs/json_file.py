"""This file is the file of a training's log: lines of JSON, several files in turn, one set for each process."""

import logging
import os
import sys
from contextlib import suppress
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path


class JsonFile(RotatingFileHandler):
    """Writes lines to a file, and begins another one when it is full; the oldest is removed.

    Folder and file are made when the first line comes. A line that cannot be written is counted, and said once. A
    process that was forked off writes to a file of its own, with its number in the name.

    Args:
        path: The file; ``.1``, ``.2`` … are put behind the names of older ones.
        max_bytes: Size of one file in bytes.
        backups: How many older files are kept.

    Attributes:
        num_unwritten: Lines that could not be written.
    """

    def __init__(self, path: Path, *, max_bytes: int, backups: int) -> None:
        super().__init__(path, maxBytes=max_bytes, backupCount=backups, encoding="utf-8", delay=True)
        self.num_unwritten = 0
        self._well = True
        self._process = os.getpid()
        self._of_the_parent: TextIOWrapper | None = None

    @property
    def path(self) -> Path:
        """The file that is written at present."""
        return Path(self.baseFilename)

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record."""
        if os.getpid() != self._process:
            self._begin_anew()
        failed = self.num_unwritten
        super().emit(record)
        if self.num_unwritten == failed:
            self._well = True

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: ARG002, N802 - logging's name
        """Say once that lines are lost, and try again with the next one, in a stream of its own."""
        self.num_unwritten += 1
        error = sys.exception()
        self.rest()
        if self._well and sys.stderr is not None:
            said = getattr(error, "strerror", None) or f"{type(error).__name__}: {error}"
            line = (
                f"torchmagic: {self.path} cannot be written ({said}); the training goes on, lines are lost till it can"
            )
            with suppress(OSError, ValueError):
                print(line, file=sys.stderr)  # noqa: T201 - logging itself is what failed
        self._well = False

    def rest(self) -> None:
        """Close the file until the next line comes."""
        if os.getpid() != self._process:
            self._begin_anew()
        self.acquire()
        try:
            stream, self.stream = self.stream, None
            if stream is not None:
                with suppress(OSError, ValueError):  # what could not be written was counted
                    stream.close()
        finally:
            self.release()

    def _open(self) -> TextIOWrapper:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        stream = super()._open()
        if stream.tell() and not _ends_with_a_line(self.path):
            stream.write("\n")  # what was cut off is not to take the next line with it
        return stream

    def _begin_anew(self) -> None:
        """Leave the parent's file to the parent: closing it here would write what its buffer held once more."""
        self._of_the_parent, self.stream = self.stream, None
        self._process = os.getpid()
        path = self.path
        self.baseFilename = str(path.with_name(f"{path.stem}-{self._process}{path.suffix}"))


def _ends_with_a_line(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"
