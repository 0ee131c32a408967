"""This file is the word about a run whose kernel died: one line when the extension is loaded, once for each run."""

from pathlib import Path
from typing import TYPE_CHECKING

from torchmagic.jupyter.wall import tell, wall

if TYPE_CHECKING:
    from torchmagic.session.history import Entry

_LONGEST_NAME = 60


def tell_lost(folder: Path | None = None) -> None:
    """Tell of the newest run that a dead process left behind in a project, unless somebody was told already.

    Loads neither torch nor a run: the extension is to be there at once.

    Args:
        folder: The project's folder; None is the working directory.
    """
    with wall("look for runs that were cut off"):
        from torchmagic.session.entries import mark_told, newest_lost  # noqa: PLC0415 - a wall around it as well

        project = folder or Path.cwd()
        entry = newest_lost(project)
        if entry is not None:
            tell(_words(entry))
            mark_told(project, entry.number)


def _words(entry: "Entry") -> str:
    name = entry.name if len(entry.name) <= _LONGEST_NAME else f"{entry.name[: _LONGEST_NAME - 1]}…"
    named = f" ({name})" if name else ""
    when = f"at step {entry.steps:,}" if entry.steps else "before its first step"
    number = entry.number
    return (
        f"run {number}{named} was cut off {when} when its kernel died; %torchsession show {number} shows it up to then"
    )
