"""This file is the picking of a run: what a person or a program may call one, and which one is meant."""

from collections.abc import Sequence

from torchmagic.session.history import Entry


def picked(history: Sequence[Entry], which: int | str, *, here: Sequence[str] = ()) -> Entry:
    """Return the line of the history that is meant.

    Args:
        history: All lines, oldest first.
        which: Number as the history shows it, negative ones from the end; id; name (the newest of that name); or
            ``"last"``: the newest of this process, or, before its first run, the newest of all.
        here: Ids of this process's runs, oldest first.

    Raises:
        KeyError: If there is no such run; its argument is one line.
    """
    if not history:
        raise KeyError("there is no run yet; watch one with %%torchdebug or torchmagic.watch()")
    if isinstance(which, int):
        return _numbered(history, which)
    if not isinstance(which, str):
        raise KeyError(f"a run is meant by its number, id or name, or 'last', {which!r} came; {_choice(history)}")
    if which == "last":
        return next((entry for entry in history if here and entry.id == here[-1]), history[-1])
    if which.isdecimal() and any(entry.number == int(which) for entry in history):
        return _numbered(history, int(which))
    for entry in reversed(history):
        if which and which in (entry.id, entry.name):
            return entry
    if which.removeprefix("-").isdecimal():
        return _numbered(history, int(which))
    raise KeyError(f"no run has the name or id {which!r}; {_choice(history)}")


def _numbered(history: Sequence[Entry], number: int) -> Entry:
    if number < 0:
        if -number <= len(history):
            return history[number]
        raise KeyError(f"no run stands at {number}; {_choice(history)}")
    for entry in history:
        if entry.number == number:
            return entry
    raise KeyError(f"no run has the number {number}; {_choice(history)}")


def _choice(history: Sequence[Entry]) -> str:
    """Say which runs there are."""
    numbers = [entry.number for entry in history]
    if len(numbers) == 1:
        return f"there is one run, number {numbers[0]}"
    return f"there are {len(numbers):,} runs, with numbers from {numbers[0]:,} to {numbers[-1]:,}"
