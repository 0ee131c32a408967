"""This file says how many there are of something, as English has it: ``1 step``, ``1,200 steps``, ``a and 3 more``."""

from collections.abc import Sequence

# Names that a title, or a line of the evidence, shows.
MOST_NAMED = 4


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, which takes an s beside every number but one.

    Args:
        number: How many there are.
        noun: What they are, in the singular; an s makes it the plural.
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def few(names: Sequence[str], count: int = 0, *, most: int = MOST_NAMED) -> str:
    """Return the first names, and how many more there are.

    Args:
        names: Some of them, or all.
        count: How many there are; 0 for as many as ``names``.
        most: Names that are shown.
    """
    more = max(count, len(names)) - min(most, len(names))
    first = ", ".join(names[:most])
    return f"{first} and {more:,} more" if more else first
