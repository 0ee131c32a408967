"""This file is the history as the store holds it, read with nothing but SQLite and without touching a run."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from torchmagic.session import owner
from torchmagic.session.database import StoreError, connected, reading, store_in, told
from torchmagic.session.history import Entry, entry_from
from torchmagic.session.schema import SCHEMA, checked_version, prepare
from torchmagic.session.status import Status

ENTRIES = "SELECT number, run, body, note, tags, owner FROM entry"
_RUNNING = """body LIKE '%"status": "running"%'"""
# Newest first; a process that has died is rarely far back, and each of these is asked about.
_UNTOLD = f"{ENTRIES} WHERE told = 0 AND {_RUNNING} ORDER BY number DESC LIMIT 20"


def entries(path: Path) -> tuple[list[Entry], list[str]]:
    """Return all lines of the history in the order of their numbers, and what is wrong with lines that are damaged.

    Raises:
        StoreError: If the file cannot be read.
    """
    _bring_up_to_date(path)
    with reading(path) as db:
        rows = db.execute(f"{ENTRIES} ORDER BY number").fetchall()
    found, damaged = [], []
    for row in rows:
        try:
            found.append(entry_of_row(row, path.parent))
        except ValueError as error:
            damaged.append(f"{path}: {error}; it is left out")
    return found, damaged


def entry_of_row(row: Sequence[Any], folder: Path) -> Entry:
    """Return the entry of a row that ``ENTRIES`` selected; a run that goes on in no living process is lost.

    Raises:
        ValueError: If it is damaged.
    """
    number, run_id, body, note, tags, opened_by = row
    entry = entry_from(number, run_id, body, note, tags)
    if entry.status is Status.RUNNING and not owner.lives(opened_by, folder, entry.number):
        return replace(entry, status=Status.LOST)
    return entry


def newest_lost(folder: Path) -> Entry | None:
    """Return the newest run of a project that a dead process left behind and that nobody has been told of, or None.

    Costs nothing where there is no store, and never raises: what is wrong with a store is said when it is used.

    Args:
        folder: The project's folder.
    """
    path = store_in(folder)
    if not path.is_file():
        return None
    try:
        with reading(path) as db:
            rows = db.execute(_UNTOLD).fetchall() if checked_version(db, path) == SCHEMA else []
        found = (entry_of_row(row, path.parent) for row in rows)
        return next((entry for entry in found if entry.status is Status.LOST), None)
    except (StoreError, ValueError):
        return None


def mark_told(folder: Path, number: int) -> None:
    """Remember that somebody was told of all lost runs up to this number; a disk that cannot be written is let be."""
    path = store_in(folder)
    try:
        with told(path):
            db = connected(path, patience=0.1)
            try:
                db.execute(
                    'UPDATE entry SET told = 1 WHERE number <= ? AND told = 0 AND body LIKE \'%"status": "running"%\'',
                    (number,),
                )
            finally:
                db.close()
    except StoreError:
        return


def _bring_up_to_date(path: Path) -> None:
    with reading(path) as db:
        version = checked_version(db, path, deed="read")
    if version < SCHEMA:
        with told(path, "read"):
            db = connected(path)
            try:
                prepare(db, path, deed="read")
            finally:
                db.close()
