"""This file writes an event as a line of JSON."""

import json
import logging
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from torchmagic.api.training_logs.entry import ATTRIBUTE, Entry
from torchmagic.api.training_logs.later import Later
from torchmagic.api.training_logs.plain_values import plain

# A rotating file asks for the line first, to know its length, and then again to write it.
_LINE = "torchmagic_line"
# Characters of a traceback: a chain of exceptions has several.
LONGEST_TRACEBACK = 20_000


class JsonLines(logging.Formatter):
    """One object a record, in ASCII, without line breaks inside; non-finite numbers are texts.

    Args:
        about: Plain values that every line carries, such as the name of the experiment.
    """

    def __init__(self, about: Mapping[str, Any]) -> None:
        super().__init__()
        self._about = dict(about)

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as a line, without its end."""
        line: str | None = getattr(record, _LINE, None)
        if line is None:
            line = json.dumps(self._object(record), allow_nan=False, separators=(",", ":"), default=_read)
            vars(record)[_LINE] = line
        return line

    def _object(self, record: logging.LogRecord) -> dict[str, Any]:
        entry: Entry = getattr(record, ATTRIBUTE, None) or Entry()
        told: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "event": entry.event,
            "message": record.getMessage(),
            "logger": record.name,
            **self._about,
        }
        if entry.phase:
            told["phase"] = entry.phase
        if entry.fields:
            told["fields"] = entry.fields
        if entry.error is not None:
            told["error"] = error_fields(entry)
        return told


def error_fields(entry: Entry) -> dict[str, str]:
    """Return type, message and traceback of an entry's exception; empty without one."""
    error = entry.error
    if error is None:
        return {}
    text = "".join(error.format())
    return {
        "type": error.exc_type.__qualname__,
        "message": plain(str(error)),
        "traceback": text[-LONGEST_TRACEBACK:].encode("utf-8", "backslashreplace").decode(),
    }


def _read(value: Any) -> Any:
    """Read what was left for later; to be ``default`` of ``json.dumps``."""
    if isinstance(value, Later):
        return plain(value.read())
    return plain(value)
