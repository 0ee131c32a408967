"""This file is how runs are called where there are several of them: by number, else by name, else by place."""

from collections.abc import Sequence
from string import ascii_uppercase

from torchmagic.session.run import Run

MOST_LETTERS = 24


def run_names(runs: Sequence[Run]) -> list[str]:
    """Return a short name for each run, no two alike: ``run 4``, ``run 'baseline'`` or ``run A``."""
    names = [_name(run, place) for place, run in enumerate(runs)]
    twice = {name for name in names if names.count(name) > 1}
    return [f"{name} ({_letter(place)})" if name in twice else name for place, name in enumerate(names)]


def labels(runs: Sequence[Run]) -> list[str]:
    """Return what stands over a run's column and beside its curve: its short name, and its own name behind a number."""
    return [
        f"{name}: {shortened_name(run.name)}" if run.number and run.name else name
        for name, run in zip(run_names(runs), runs, strict=True)
    ]


def shortened_name(name: str) -> str:
    """Return a name given by the user on one line, cut where it is long."""
    words = " ".join(name.split())
    return words if len(words) <= MOST_LETTERS else f"{words[: MOST_LETTERS - 1]}…"


def _name(run: Run, place: int) -> str:
    if run.number:
        return f"run {run.number}"
    return f"run '{shortened_name(run.name)}'" if run.name.strip() else f"run {_letter(place)}"


def _letter(place: int) -> str:
    return ascii_uppercase[place] if place < len(ascii_uppercase) else str(place + 1)
