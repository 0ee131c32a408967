"""This file finds the runs that a command is asked about: in a store, or in files that ``run.save`` wrote."""

from pathlib import Path

from torchmagic.api.reading import read
from torchmagic.debuggers.loading import load
from torchmagic.session.entries import entries
from torchmagic.session.run import Run
from torchmagic.session.session import Session


def store_in(folder: Path) -> Session:
    """Return the session of a project's folder.

    Raises:
        ValueError: If it has no store.
        StoreError: If the store cannot be read.
    """
    session = Session(folder.absolute())
    if not session.path.is_file():
        raise ValueError(f"there is no store at {session.path}; name the folder in which the runs were with --store")
    entries(session.path)  # a session goes on without a store, and says there were no runs
    return session


def run_named(which: str, folder: Path) -> Run:
    """Return a run.

    Args:
        which: A file that ``run.save`` wrote; or, of the store, a number, id, name or ``last``.
        folder: The folder of the store.

    Raises:
        ValueError: If the file holds no run, or there is no store.
        KeyError: If there is no such run; one line says which there are.
        OSError: If the file cannot be read.
        StoreError: If the store cannot be read.
    """
    if Path(which).is_file():
        return load(which)
    if "/" in which or which.endswith(".json"):
        raise ValueError(f"there is no file {which}")
    return read(store_in(folder), which)
