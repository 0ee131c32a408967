"""This file is the channel: one training's logger, its file, and the thread that writes, open until it is closed."""

import logging
import os
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, TypedDict
from uuid import uuid4

from torchmagic.api.training_logs.entry import ATTRIBUTE, entry
from torchmagic.api.training_logs.json_file import JsonFile
from torchmagic.api.training_logs.json_lines import JsonLines
from torchmagic.api.training_logs.log_level import LogLevel, level_number
from torchmagic.api.training_logs.plain_values import plain
from torchmagic.api.training_logs.terminal import Terminal
from torchmagic.api.training_logs.writing import Intake, Writing
from torchmagic.exports.names import file_word
from torchmagic.session.database import FOLDER
from torchmagic.session.fork_safe_lock import ForkSafeLock

ROOT = "torchmagic.training"
FOLDER_OF_LOGS = "training_logs"
MIB = 2**20
LEAST_BYTES = 1024


class LogOptions(TypedDict, total=False):
    """What can be said about a training's log, whatever writes to it.

    Args:
        log_dir: Folder of the files; ``.torchmagic/training_logs`` in the working directory unless given.
        terminal_level: From which level on events are shown on standard error; INFO unless given, None for none.
        max_bytes: Size of one file in bytes, 10 MiB unless given; then another is begun.
        backups: How many older files are kept, 5 unless given.
        handlers: Handlers of the user's, called by the thread that writes.
    """

    log_dir: str | os.PathLike[str] | None
    terminal_level: LogLevel | str | int | None
    max_bytes: int
    backups: int
    handlers: Sequence[logging.Handler]


class Channel:
    """A logger of Python's logging that never blocks who logs.

    Nothing is opened before the first record, and nothing is added to the root logger.

    Args:
        name: What the user calls the training; letters and digits of it become a part of names.
        about: Plain values that every line carries.
        log_dir: See ``LogOptions``, as the other arguments.

    Raises:
        ValueError: If an option is wrong; one line.
    """

    def __init__(
        self,
        name: str,
        *,
        about: Mapping[str, Any],
        log_dir: str | os.PathLike[str] | None = None,
        terminal_level: LogLevel | str | int | None = LogLevel.INFO,
        max_bytes: int = 10 * MIB,
        backups: int = 5,
        handlers: Sequence[logging.Handler] = (),
    ) -> None:
        _check_size(max_bytes, backups)
        level = None if terminal_level is None else level_number(terminal_level)
        word = file_word(name) or "training"
        folder = Path.cwd() / FOLDER / FOLDER_OF_LOGS if log_dir is None else Path(log_dir)
        when = datetime.now().astimezone().strftime("%Y%m%d-%H%M%S")
        self._file = JsonFile(folder / f"{word}-{when}-{uuid4().hex[:8]}.jsonl", max_bytes=max_bytes, backups=backups)
        self._file.setFormatter(JsonLines({key: plain(value) for key, value in about.items()}))
        self._own: tuple[logging.Handler, ...] = (self._file,)
        if level is not None:
            self._own = (Terminal(level), self._file)
        self.writing = Writing(*self._own, *handlers)
        self._intake = Intake(self.writing)
        self.logger = _logger_for(word.replace(".", "-"))
        self.logger.addHandler(self._intake)
        self.is_open = True

    @property
    def path(self) -> Path:
        """The file that is written at present; it is there from the first event on."""
        return self._file.path

    @property
    def num_lost(self) -> int:
        """Records that are in no file: too many waited, or the disk refused them."""
        return self.writing.num_lost + self._file.num_unwritten

    def tell(
        self,
        level: LogLevel | str | int,
        event: str,
        message: object,
        *,
        phase: object = None,
        fields: Mapping[str, Any] | None = None,
        error: BaseException | None = None,
        depth: int = 1,
    ) -> None:
        """Log an event; returns at once.

        Args:
            level: How much it matters.
            event: What kind of event it is.
            message: What to say of it.
            phase: Phase of the training.
            fields: What belongs to it, of any type.
            error: The exception that it is about.
            depth: How many of our own functions stand between this one and the user's line.
        """
        number = level_number(level)
        if self.logger.isEnabledFor(number):
            told = entry(event, phase=phase, fields=fields, error=error)
            self.logger.log(number, plain(str(message)), extra={ATTRIBUTE: told}, stacklevel=depth + 2)

    def close(self, seconds: float | None = None) -> None:
        """Write what waits, and take handlers and thread away; safe to call twice, from any thread.

        Args:
            seconds: How long to wait for the thread; None takes its usual.
        """
        if not self.is_open:
            return
        self.is_open = False
        self.logger.removeHandler(self._intake)
        self._intake.close()
        _give_back(self.logger)
        self.writing.end(self._own, **({} if seconds is None else {"seconds": seconds}))


def _check_size(max_bytes: Any, backups: Any) -> None:
    if type(max_bytes) is not int or max_bytes < LEAST_BYTES:
        raise ValueError(f"max_bytes is the size of one log file, {LEAST_BYTES:,} bytes or more, {max_bytes!r} came")
    if type(backups) is not int or backups < 1:
        raise ValueError(f"backups is how many older log files are kept, 1 or more, {backups!r} came")


# A logger of one name serves one training at a time, so that no record gets into another's file.
_taken: set[str] = set()
_taking = ForkSafeLock()


def _logger_for(word: str) -> logging.Logger:
    with _taking:
        names = (f"{ROOT}.{word}" if number == 1 else f"{ROOT}.{word}-{number}" for number in range(1, len(_taken) + 2))
        name = next(each for each in names if each not in _taken)
        _taken.add(name)
    logger = logging.getLogger(name)
    if logger.level == logging.NOTSET:
        logger.setLevel(logging.DEBUG)
    logger.propagate = False  # the root logger's handlers would show each line a second time
    return logger


def _give_back(logger: logging.Logger) -> None:
    with _taking:
        _taken.discard(logger.name)
