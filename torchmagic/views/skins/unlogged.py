"""This file is what libraries log while we draw with them: nothing that the user's handlers are to write."""

import contextlib
import logging
import threading
from collections.abc import Iterator

# matplotlib, and what it writes PNG with.
LIBRARIES = "matplotlib", "PIL"


@contextlib.contextmanager
def unlogged() -> Iterator[None]:
    """Keep what the libraries log in this thread from all handlers; levels, and what other threads log, stay.

    It is the handlers that are asked, for a library that is only now loaded has no loggers yet.
    """
    thread = threading.get_ident()

    def is_users(record: logging.LogRecord) -> bool:
        return threading.get_ident() != thread or not _is_of_library(record.name)

    handlers = _handlers()
    try:
        for handler in handlers:
            handler.addFilter(is_users)
        yield
    finally:
        for handler in handlers:
            handler.removeFilter(is_users)


def _handlers() -> list[logging.Handler]:
    """Return every handler that a record of the libraries may come to."""
    known = logging.root.manager.loggerDict.copy()
    loggers = [logging.root, *(each for name, each in known.items() if _is_of_library(name))]
    found = [handler for each in loggers if isinstance(each, logging.Logger) for handler in each.handlers]
    return [handler for handler in (*found, logging.lastResort) if isinstance(handler, logging.Handler)]


def _is_of_library(name: str) -> bool:
    return name.partition(".")[0] in LIBRARIES
