"""This file shows a training's events to the person who waits: a line of plain text each, above the progress bar."""

import logging
import os
import sys
import time

from torchmagic.api.training_logs.entry import ATTRIBUTE, Entry
from torchmagic.api.training_logs.json_lines import error_fields
from torchmagic.api.training_logs.progress_bar import PROGRESS, Bar, in_short
from torchmagic.exports.names import encodable

# What comes with every step is for files, and what a check returns is for who asked.
ONLY_IN_FILES = frozenset({PROGRESS, "batch_metrics", "tensor_check", "gradient_check"})
# More of them nobody reads in a line.
MOST_FIELDS = 8
LONGEST_LINE = 2_000


class Terminal(logging.Handler):
    """Writes lines to standard error, wherever that leads at the moment."""

    def __init__(self, level: int) -> None:
        super().__init__(level)
        self._process = os.getpid()

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record, unless it is for files only."""
        entry: Entry = getattr(record, ATTRIBUTE, None) or Entry()
        if entry.event in ONLY_IN_FILES or sys.stderr is None:
            return
        try:
            line = as_text(record, entry)
            if os.getpid() == self._process:
                Bar.write(line, file=sys.stderr)
            else:  # a forked process may have got tqdm's lock closed for good
                sys.stderr.write(f"{line}\n")
        except Exception:  # noqa: BLE001 - as logging's own handlers: what is shown is never the training's failure
            self.handleError(record)


def as_text(record: logging.LogRecord, entry: Entry) -> str:
    """Return a record as a line, and an exception's traceback below it."""
    clock = time.strftime("%H:%M:%S", time.localtime(record.created))
    fields = list(entry.fields.items())
    facts = [entry.phase] if entry.phase else []
    if len(fields) <= MOST_FIELDS:
        facts += [f"{key} {in_short(value)}" for key, value in fields if in_short(value) != "…"]
    behind = f" ({', '.join(facts)})" if facts else ""
    message = " ".join(record.getMessage().splitlines())
    lines = [f"{clock} {record.levelname:<8} {message}{behind}"[:LONGEST_LINE]]
    if entry.error is not None:
        lines.append(error_fields(entry)["traceback"].rstrip())
    return encodable("\n".join(lines))
