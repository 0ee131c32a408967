"""This file is the schema of the store: its tables, and how a file of an earlier schema becomes one of this."""

import json
import sqlite3
import time
from array import array
from pathlib import Path
from typing import Any

from torchmagic.session.database import PATIENCE, StoreError, refusal
from torchmagic.session.history import MOST_VALUES, heading

SCHEMA = 2
# Schema 1 had these. They are as they were, so that a kernel that goes on with an older torchmagic can still write.
FIRST_TABLES = """
CREATE TABLE run (id TEXT PRIMARY KEY, started REAL NOT NULL, header TEXT NOT NULL);
CREATE TABLE record (run TEXT NOT NULL, number INTEGER NOT NULL, body TEXT NOT NULL, PRIMARY KEY (run, number));
CREATE TABLE block (run TEXT NOT NULL, metric TEXT NOT NULL, subjects TEXT NOT NULL, steps BLOB NOT NULL,
                    cells BLOB NOT NULL);
CREATE TABLE dropped (run TEXT NOT NULL, metric TEXT NOT NULL, subjects TEXT NOT NULL, body TEXT NOT NULL,
                      PRIMARY KEY (run, metric, subjects));
CREATE INDEX block_of_run ON block (run);
"""
# Numbers are never given twice (AUTOINCREMENT); rows are small, so that the history of many runs is read at once.
_ENTRY = """
CREATE TABLE entry (number INTEGER PRIMARY KEY AUTOINCREMENT, run TEXT UNIQUE NOT NULL, body TEXT NOT NULL,
                    owner TEXT NOT NULL, told INTEGER NOT NULL DEFAULT 0, note TEXT NOT NULL DEFAULT '""',
                    tags TEXT NOT NULL DEFAULT '[]')
"""
_WITHOUT_ENTRY = """
SELECT id, header FROM run WHERE NOT EXISTS (SELECT 1 FROM entry WHERE entry.run = run.id) ORDER BY started, rowid
"""


def prepare(db: sqlite3.Connection, path: Path, *, deed: str = "used") -> None:
    """Make a new file a store, bring one of schema 1 up to date, and give runs that have no number one.

    Args:
        db: The file, open.
        path: Where it lies.
        deed: What for, as ``refusal`` takes it.

    Raises:
        StoreError: If the file is no store, or comes from a newer torchmagic; it is then left as it was.
    """
    version = checked_version(db, path, deed=deed)
    if version < SCHEMA:
        _make_or_migrate(db, path, deed)
    _log_ahead(db)
    db.execute("PRAGMA synchronous = NORMAL")
    if db.execute(f"SELECT EXISTS ({_WITHOUT_ENTRY})").fetchone()[0]:
        in_one_go(db, _number_all)


def checked_version(db: sqlite3.Connection, path: Path, *, deed: str = "used") -> int:
    """Return the file's schema.

    Raises:
        StoreError: If it comes from a newer torchmagic.
    """
    version: int = db.execute("PRAGMA user_version").fetchone()[0]
    if version > SCHEMA:
        why = f"was written by a newer torchmagic (schema {version}, known {SCHEMA})"
        raise StoreError(refusal(path, why, "update torchmagic or move the file away", deed))
    return version


def in_one_go(db: sqlite3.Connection, deed: Any, *arguments: Any) -> Any:
    """Do all of something, or nothing of it."""
    db.execute("BEGIN IMMEDIATE")
    try:
        result = deed(db, *arguments)
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:  # a full disk has rolled back already
            db.execute("ROLLBACK")
        raise
    return result


def _make_or_migrate(db: sqlite3.Connection, path: Path, deed: str) -> None:
    """Bring the tables up to date, unless another process did while this one waited for its turn."""

    def change(db: sqlite3.Connection) -> None:
        version = checked_version(db, path, deed=deed)
        if version == 0:
            if db.execute("SELECT 1 FROM sqlite_master").fetchone() is not None:
                raise StoreError(refusal(path, "is no store of torchmagic", "move it away", deed))
            for statement in FIRST_TABLES.split(";"):
                db.execute(statement)
        if version < SCHEMA:
            db.execute(_ENTRY)
            _number_all(db)
            db.execute(f"PRAGMA user_version = {SCHEMA}")

    in_one_go(db, change)
    ignored = path.parent / ".gitignore"
    if not ignored.exists():
        ignored.write_text("*\n")


def _log_ahead(db: sqlite3.Connection) -> None:
    """Switch to the write-ahead log; SQLite does not wait its turn here when two processes open a new file."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            db.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.01)
        else:
            return


def _number_all(db: sqlite3.Connection) -> None:
    """Give the runs that have no line in the history one, oldest first."""
    for run_id, header in db.execute(_WITHOUT_ENTRY).fetchall():
        body = _body(db, run_id, json.loads(header))
        db.execute("INSERT INTO entry (run, body, owner) VALUES (?, ?, '')", (run_id, body))


def _body(db: sqlite3.Connection, run_id: str, header: dict[str, Any]) -> str:
    """Return what ``history.body_of`` would have written of a run that is known by its header only."""
    severities = [finding.get("severity") for finding in header["findings"]]
    counts = {f"{kind}s": severities.count(kind) for kind in ("error", "warning", "info")}
    plain = {name: header[name] for name in ("name", "started", "seconds", "cost", "steps", "status")}
    loss = [repr(value) for value in _loss_line(db, run_id)]
    return json.dumps({**plain, **counts, "heading": heading(header["name"], header["source"]), "loss": loss})


def _loss_line(db: sqlite3.Connection, run_id: str) -> list[float]:
    query = "SELECT subjects, cells FROM block WHERE run = ? AND metric = 'loss' ORDER BY rowid"
    rows = db.execute(query, (run_id,)).fetchall()
    values: array[float] = array("d")
    width = len(json.loads(rows[0][0])) if rows else 1
    for subjects, cells in rows:
        if subjects == rows[0][0]:
            values.extend(array("d" if width == 1 else "f", cells)[::width])
    if len(values) <= MOST_VALUES:
        return list(values)
    return [values[i * (len(values) - 1) // (MOST_VALUES - 1)] for i in range(MOST_VALUES)]
