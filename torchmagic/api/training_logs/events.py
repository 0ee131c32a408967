"""This file is what every training's log can be told: events, warnings and errors."""

import asyncio
import logging
import warnings
import weakref
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self, Unpack

from torchmagic.api.training_logs.channel import Channel, LogOptions
from torchmagic.api.training_logs.log_level import LogLevel, level_number
from torchmagic.api.training_logs.plain_values import plain
from torchmagic.api.training_logs.training_phase import TrainingPhase
from torchmagic.session.fork_safe_lock import ForkSafeLock

_INTERRUPTIONS = (KeyboardInterrupt, asyncio.CancelledError)


class TrainingEvents:
    """A training's log; any thread may log, and none waits for the disk.

    ``with`` closes it, and logs the exception that ends the block. One that is let go without being closed closes
    itself. A field may be of any type: tensors and arrays of one value are logged as numbers, larger ones by shape,
    dtype and device; nothing that was logged is held.

    Args:
        name: What to call the training; it becomes a part of the file's and the logger's name, and no path.
        about: What every line of the file carries.
        **options: See ``LogOptions``.

    Raises:
        ValueError: If an option is wrong; one line.
    """

    def __init__(self, name: str, about: Mapping[str, Any], **options: Unpack[LogOptions]) -> None:
        self._channel = Channel(name, about=about, **options)
        self._counting = ForkSafeLock()
        self._counts = dict.fromkeys(LogLevel, 0)
        self._told_error: tuple[int, str] = (0, "")
        self._said_closed = False
        # The exit of the process has a hook of its own: it waits until all is written.
        weakref.finalize(self, Channel.close, self._channel, 0).atexit = False

    def __repr__(self) -> str:
        state = "" if self._channel.is_open else ", closed"
        return f"<{type(self).__name__}: {self._channel.path}{state}>"

    @property
    def path(self) -> Path:
        """The file that is written, one JSON object a line; it is there from the first event on."""
        return self._channel.path

    @property
    def logger(self) -> logging.Logger:
        """The logger underneath, named ``torchmagic.training.<name>``; it hands nothing to the root logger."""
        return self._channel.logger

    @property
    def num_lost(self) -> int:
        """Events that are in no file, because too many waited for the disk or the disk refused them."""
        return self._channel.num_lost

    def log_debug(self, message: object, phase: TrainingPhase | str | None = None, **fields: Any) -> None:
        """Log what only a file is to know; see ``log_info``."""
        self._tell(LogLevel.DEBUG, "debug", message, phase=phase, fields=fields)

    def log_info(self, message: object, phase: TrainingPhase | str | None = None, **fields: Any) -> None:
        """Log a message.

        Args:
            message: What to say.
            phase: Phase of the training, one of ``TrainingPhase`` or any word.
            **fields: What belongs to it, of any type.
        """
        self._tell(LogLevel.INFO, "info", message, phase=phase, fields=fields)

    def log_warning(self, message: object, phase: TrainingPhase | str | None = None, **fields: Any) -> None:
        """Log what is odd while the training goes on; see ``log_info``."""
        self._tell(LogLevel.WARNING, "warning", message, phase=phase, fields=fields)

    def log_error(
        self,
        error: BaseException | str,
        phase: TrainingPhase | str | None = None,
        context: Mapping[str, Any] | None = None,
    ) -> None:
        """Log an exception with its traceback; neither it nor its frames are held. An interruption is a warning.

        Args:
            error: The exception, or what to say of it.
            phase: Phase of the training.
            context: What belongs to it, of any type, such as ``{"epoch": 3, "step": 17}``.
        """
        raised = error if isinstance(error, BaseException) else None
        self._told_error = _known_by(error)
        level = LogLevel.WARNING if isinstance(error, _INTERRUPTIONS) else LogLevel.ERROR
        self._tell(level, "error", _said(error), phase=phase, fields=context, error=raised)

    def log_training_event(
        self,
        name: str,
        message: object = "",
        level: LogLevel | str | int = LogLevel.INFO,
        *,
        phase: TrainingPhase | str | None = None,
        **fields: Any,
    ) -> None:
        """Log an event of a kind of your own.

        Args:
            name: What kind of event it is; ``event`` in the file.
            message: What to say of it; the name where nothing is given.
            level: How much it matters.
            phase: Phase of the training.
            **fields: What belongs to it, of any type.

        Raises:
            ValueError: If there is no such level; one line.
        """
        self._tell(level, name, message or name, phase=phase, fields=fields)

    def flush(self) -> None:
        """Wait until all events are written, 2.5 s at most."""
        self._channel.writing.stop()

    def close(self) -> None:
        """Write what waits and take handlers and thread away; safe to call twice. What is logged later is lost."""
        self._channel.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, error: BaseException | None, _traceback: TracebackType | None
    ) -> None:
        if error is not None and not self._is_told(error):
            self.log_error(error)
        self.close()

    def _is_told(self, error: BaseException) -> bool:
        """Whether the newest error that was logged is this exception."""
        return _known_by(error) == self._told_error

    def _tell(
        self,
        level: LogLevel | str | int,
        event: str,
        message: object,
        *,
        phase: object = None,
        fields: Mapping[str, Any] | None = None,
        error: BaseException | None = None,
        depth: int = 2,
    ) -> None:
        """Log an event for a function that the user called: the caller, or one further out by ``depth`` beyond 2."""
        number = level_number(level)
        if not self._channel.is_open:
            self._say_closed()
            return
        with self._counting:
            reached = max((each for each in LogLevel if each.number <= number), key=_number, default=LogLevel.DEBUG)
            self._counts[reached] += 1
        self._channel.tell(number, event, message, phase=phase, fields=fields, error=error, depth=depth)

    def _say_closed(self) -> None:
        if not self._said_closed:
            self._said_closed = True
            said = f"torchmagic: {self.path.name} is closed, and what is logged now is lost; make a new logger"
            warnings.warn(said, RuntimeWarning, stacklevel=4)


def _said(error: object) -> str:
    """Return an exception in one line, also where it cannot be asked for its message."""
    told = plain(error)
    if not isinstance(told, dict):
        return str(told)
    return f"{told['type']}: {told['message']}" if told["message"] else str(told["type"])


def _known_by(error: object) -> tuple[int, str]:
    """Return what an exception is known by again without being held; an identity alone may be given twice."""
    return id(error), _said(error)


def _number(level: LogLevel) -> int:
    return level.number
