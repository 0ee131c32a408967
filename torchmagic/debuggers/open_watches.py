"""This file is the watches that are open: closed where the process ends, left alone in one that was forked off."""

import atexit
from contextlib import suppress
from typing import Any

# In the order in which they were opened.
WATCHING: list[Any] = []


def leave_inherited() -> None:
    """In a process that was forked off, leave the runs of the one it came from to that one."""
    while WATCHING:
        WATCHING[-1].leave()


@atexit.register
def _close_all() -> None:
    """Close the runs that the end of the process cuts off."""
    for watching in reversed(tuple(WATCHING)):
        with suppress(Exception):  # nobody is left to be told
            watching.stop(KeyboardInterrupt())
