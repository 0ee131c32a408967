"""This file says how many there are of something, as English has it: ``1 step``, ``1,200 steps``."""


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, which takes an s beside every number but one.

    Args:
        number: How many there are.
        noun: What they are, in the singular; an s makes it the plural.
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
