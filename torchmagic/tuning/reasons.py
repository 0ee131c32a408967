"""This file is why something failed, in one line."""

import re

_MOST_LETTERS = 300
# What a loader raises in the place of what its worker raised, which stands in the last line.
_IN_A_WORKER = re.compile(r"Caught \w+ in DataLoader worker process \d+\.")


def reason_of(error: BaseException) -> str:
    """Return the class of an error and what it says, in one line; of one from a loader's worker, what was raised there.

    Examples:
        >>> reason_of(KeyError("a")), reason_of(ValueError())
        ("KeyError: 'a'", 'ValueError')
    """
    text = str(error)
    if isinstance(error, KeyError) and error.args:
        text = str(error.args[0])  # a KeyError quotes what it says, line breaks too
    if _IN_A_WORKER.match(text):
        return f"in a worker: {_short(text.strip().splitlines()[-1])}"
    said = _short(str(error))
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


def _short(text: str) -> str:
    said = " ".join(text.split())
    return said if len(said) <= _MOST_LETTERS else f"{said[: _MOST_LETTERS - 1]}…"
