"""This file is the words that sentences are put together with."""

from collections.abc import Sequence


def joined(words: Sequence[str]) -> str:
    """Return words in a row, the last one after ``and``.

    Examples:
        >>> joined(["a", "b", "c"]), joined(["a"]), joined([])
        ('a, b and c', 'a', '')
    """
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)
