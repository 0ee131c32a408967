"""This file is a bookmark in the global streams of random numbers."""

from collections.abc import Callable

from torchmagic.models.streams import random_states


def random_streams() -> Callable[[], None]:
    """Return what puts the streams of Python, numpy and torch back to where they are now; it can be called again."""
    backs = list(random_states())

    def put_back() -> None:
        for back in backs:
            back()

    return put_back
