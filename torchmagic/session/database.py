"""This file is the door to SQLite: how the project's file is opened, and what its complaints say to a person."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

FOLDER = ".torchmagic"
FILE = "session.sqlite"
# Seconds to wait while another process writes.
PATIENCE = 2.0
# What another process, or more room on the disk, may mend while the run goes on.
_PASSING = ("locked", "busy", "disk is full", "disk i/o error", "no space left")
_ODD = (
    sqlite3.Error,
    OSError,
    TypeError,
    ValueError,
    AttributeError,
    LookupError,
    ArithmeticError,
    RecursionError,
    MemoryError,
)


class StoreError(Exception):
    """The store cannot be used; the message is one line that says why and what to do.

    Args:
        message: That line.
        passing: Whether it may be otherwise in a moment: another process writes, or the disk is full.
    """

    def __init__(self, message: str, *, passing: bool = False) -> None:
        super().__init__(message)
        self.passing = passing


def store_in(folder: Path) -> Path:
    """Return where a project's store lies."""
    return folder / FOLDER / FILE


def connected(path: Path, *, patience: float = PATIENCE) -> sqlite3.Connection:
    """Return a connection that writes; any thread may use it, one at a time."""
    return sqlite3.connect(path, check_same_thread=False, isolation_level=None, timeout=patience)


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a store that is there, to read; what lies on a disk that cannot be written is readable as well.

    Raises:
        StoreError: If it cannot be read; in one line.
    """
    with told(path, "read"):
        db = _opened(path)
        try:
            yield db
        finally:
            db.close()


def _opened(path: Path) -> sqlite3.Connection:
    """Open the file, first as the living store that it is, then as one that nobody can write."""
    uri = f"file:{quote(str(path.absolute()))}"
    for options in ("mode=ro", "mode=ro&immutable=1"):
        db = sqlite3.connect(f"{uri}?{options}", uri=True, isolation_level=None, timeout=PATIENCE)
        try:
            db.execute("SELECT 1 FROM sqlite_master").fetchone()
        except sqlite3.OperationalError as error:
            db.close()
            if "immutable" in options or "unable to open" not in str(error):
                raise
        except BaseException:
            db.close()
            raise
        else:
            return db
    raise AssertionError  # unreachable: the last way returns or raises


@contextmanager
def told(path: Path, deed: str = "used") -> Iterator[None]:
    """Turn what SQLite, the disk or the codec says into one line.

    Raises:
        StoreError: With that line.
    """
    try:
        yield
    except _ODD as error:
        said = " ".join(str(error).split()) or type(error).__name__
        passing = isinstance(error, sqlite3.OperationalError | OSError) and any(
            word in said.lower() for word in _PASSING
        )
        remedy = "check the disk and the folder's rights, or move the file away"
        raise StoreError(refusal(path, f"cannot be {deed} ({said})", remedy, deed), passing=passing) from error


def refusal(path: Path, why: str, remedy: str, deed: str) -> str:
    """Return the line on a store that cannot be had for a deed: ``used`` by a run, ``read`` or ``changed``."""
    kept = "this run is kept in memory only: " if deed == "used" else ""
    return f"{path} {why}; {kept}{remedy}"
