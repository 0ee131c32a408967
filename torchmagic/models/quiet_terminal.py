"""This file is what C++ writes to the terminal while torch is profiled, and how it is kept from doing so."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

# Kineto tells the terminal of every start and stop, below this level.
LOG_LEVEL, SILENT = "KINETO_LOG_LEVEL", "6"


@contextmanager
def quiet_terminal() -> Iterator[None]:
    """Drop what C++ writes to the terminal."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        kept = os.dup(2)
    except OSError:  # there is none
        os.close(nowhere)
        yield
        return
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


@contextmanager
def quiet_kineto() -> Iterator[None]:
    """Keep Kineto from writing to the terminal, unless the user has chosen what it writes."""
    if LOG_LEVEL in os.environ:
        yield
        return
    os.environ[LOG_LEVEL] = SILENT
    try:
        yield
    finally:
        os.environ.pop(LOG_LEVEL, None)
