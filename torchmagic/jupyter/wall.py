"""This file is the wall between our own failures and the user's cell."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from torchmagic.session.interrupts import pass_on

_told: set[str] = set()


@contextmanager
def wall(doing: str) -> Iterator[None]:
    """Let no failure of ours reach the cell; each is told once, in one line.

    Args:
        doing: What was being done, to follow "torchmagic could not".
    """
    try:
        yield
    except Exception as error:  # noqa: BLE001 - the cell's close: whatever we did wrong, the cell is the user's
        pass_on(error)
        tell_once(f"could not {doing} ({type(error).__name__}: {error}); the cell itself is not affected")


def tell(message: str) -> None:
    """Print one line for the person who reads the cell."""
    print("torchmagic:", " ".join(message.split()), file=sys.stderr)  # noqa: T201 - meant for the cell's output


def tell_once(message: str) -> None:
    """Print one line, unless the same was told before in this process."""
    if message not in _told:
        _told.add(message)
        tell(message)
