"""This file is the flags of a line magic that takes an expression first: told apart, completed, and asked for help."""

from collections.abc import Sequence
from difflib import get_close_matches

from IPython.core.error import UsageError

HELP = ("--help", "-h")


def asks(line: str) -> bool:
    """Whether a line asks for help."""
    return line.split()[-1:] in ([HELP[0]], [HELP[1]])


def starting_with(word: str, flags: Sequence[str]) -> list[str]:
    """Return the flags, and the one for help, that a word may become."""
    return [each for each in (*flags, HELP[0]) if each.startswith(word)] if word.startswith("-") else []


def read_flag(option: str, *, magic: str, flags: Sequence[str]) -> tuple[str, str]:
    """Return a flag and what was typed behind it, with a space or an equals sign between.

    Raises:
        UsageError: If there is no such flag; one line that names the nearest one.
    """
    word, _, rest = option.strip().partition(" ")
    flag, has_value, value = word.partition("=")
    if flag not in flags:
        nearest = get_close_matches(flag, flags, n=1)
        hint = f"did you mean {nearest[0]}?" if nearest else f"it knows {', '.join(flags)}"
        raise UsageError(f"%{magic}: there is no option {flag}; {hint}")
    return flag, (f"{value} {rest}" if has_value else rest).strip()
