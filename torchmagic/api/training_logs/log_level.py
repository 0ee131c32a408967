"""This file is the levels of a training's log; they are those of Python's logging."""

import logging
from difflib import get_close_matches
from enum import StrEnum


class LogLevel(StrEnum):
    """How much an event matters."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"
    CRITICAL = "critical"

    @property
    def number(self) -> int:
        """The level's number in ``logging``, such as 20 for INFO."""
        return logging.getLevelNamesMapping()[self.name]


def level_number(level: LogLevel | str | int) -> int:
    """Return a level's number in ``logging``.

    Args:
        level: A ``LogLevel``, its name in any case, or a number of ``logging``.

    Raises:
        ValueError: If there is no such level; one line.
    """
    if isinstance(level, int) and not isinstance(level, bool):
        return level
    name = str(level).lower()
    if name in tuple(LogLevel):
        return LogLevel(name).number
    nearest = get_close_matches(name, tuple(LogLevel), n=1)
    hint = f"; did you mean {str(nearest[0])!r}?" if nearest else ""
    raise ValueError(f"level: {level!r} is not one of {', '.join(LogLevel)}{hint}")
