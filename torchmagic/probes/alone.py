"""This file is the care of one rank that repeats a step by itself: nothing in it may wait for the other ranks."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol


class AloneError(RuntimeError):
    """What one rank was about to repeat needs the other ranks, which do not repeat it and would be waited for."""


class CanBeAlone(Protocol):
    """Taps that let no collective be called while one rank is by itself."""

    alone: bool


@contextmanager
def as_if_alone(taps: CanBeAlone) -> Iterator[None]:
    """Have collectives raise ``AloneError`` inside."""
    taps.alone = True
    try:
        yield
    finally:
        taps.alone = False
