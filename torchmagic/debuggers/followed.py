"""This file is a watched block of a script: its report is written, and findings that are to fail it do so."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from torchmagic.debuggers.settings import Settings
from torchmagic.probes.user_warnings import warn_at_user
from torchmagic.rules.failing import FindingsError, failing
from torchmagic.session.ranked import is_shown
from torchmagic.session.run import Run, Status
from torchmagic.session.session import session
from torchmagic.session.whole_file import file_behind, one_line

if TYPE_CHECKING:
    from torchmagic.debuggers.watching import Watch

_told: set[str] = set()


@contextmanager
def followed(watching: "Watch") -> Iterator[Run]:
    """Watch a block, and do with its run what the settings ask for.

    Args:
        watching: The watch, which is not open yet.

    Yields:
        The run.

    Raises:
        OSError: If the report could not be written where it is to be; before the block begins.
        FindingsError: If the block ended well and has findings that are to fail it.
    """
    settings = watching.settings
    place = place_of_report(settings)
    try:
        with watching as run:
            yield run
    finally:
        if watching.run.status is not Status.RUNNING:
            follow(watching.run, settings, place=place)
    fail(run, settings)


def follow(run: Run, settings: Settings, *, place: Path | None = None) -> None:
    """Write the report of a run that is over, where one was asked for, and tell what is wrong with the store, once.

    What ended the run is worth more than its report: one that cannot be written is a warning.

    Args:
        run: The run.
        settings: What was asked for.
        place: Where the settings' report was to be as the run began; None takes it as it is now.
    """
    if settings.report and (settings.every_rank or is_shown(run)):
        try:
            run.report(place or settings.report)
        except OSError as error:
            warn_at_user(f"torchmagic: the report was not written: {error}")
    for line in session.warnings:
        if line not in _told:
            _told.add(line)
            warn_at_user(f"torchmagic: {line}")


def fail(run: Run, settings: Settings) -> None:
    """Raise the findings that are to fail what was watched.

    Raises:
        FindingsError: If there are some.
    """
    found = failing(run.findings, settings.fail_on)
    if found:
        raise FindingsError(found)


def place_of_report(settings: Settings) -> Path | None:
    """Return where a report goes, wherever the program goes meanwhile; None where none was asked for.

    Raises:
        OSError: If it could not be written there.
    """
    if not settings.report:
        return None
    path = Path(settings.report).expanduser()
    with one_line(path):
        file_behind(path, ".html")
        return path.absolute()
