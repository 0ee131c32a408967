"""This file is the changing of what is stored: notes and tags of runs, and the clearing of the store."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from torchmagic.session.database import connected, told
from torchmagic.session.entries import ENTRIES, entry_of_row
from torchmagic.session.schema import in_one_go, prepare
from torchmagic.session.status import Status


def annotate_stored(path: Path, run_id: str, *, note: str | None, tags: tuple[str, ...] | None) -> None:
    """Write a note or tags to a run of the store; None leaves them as they are.

    Raises:
        StoreError: If it cannot be written.
    """
    with _writing(path) as db:
        if note is not None:
            db.execute("UPDATE entry SET note = ? WHERE run = ?", (json.dumps(note), run_id))
        if tags is not None:
            db.execute("UPDATE entry SET tags = ? WHERE run = ?", (json.dumps(tags), run_id))


def clear_stored(path: Path) -> None:
    """Remove all runs from the store but those that go on in a living process.

    Raises:
        StoreError: If it cannot be written.
    """
    with _writing(path) as db:
        in_one_go(db, _remove_ended, path.parent)
        db.execute("VACUUM")


def _remove_ended(db: sqlite3.Connection, folder: Path) -> None:
    for row in db.execute(ENTRIES).fetchall():
        try:
            goes_on = entry_of_row(row, folder).status is Status.RUNNING
        except ValueError:  # a damaged line is cleared with the rest
            goes_on = False
        if not goes_on:
            db.execute("DELETE FROM run WHERE id = ?", (row[1],))
            for table in ("record", "block", "dropped", "entry"):
                db.execute(f"DELETE FROM {table} WHERE run = ?", (row[1],))  # noqa: S608 - names of our own


@contextmanager
def _writing(path: Path) -> Iterator[sqlite3.Connection]:
    with told(path, "changed"):
        db = connected(path)
        try:
            prepare(db, path, deed="changed")
            yield db
        finally:
            db.close()
