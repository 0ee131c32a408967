"""This file is the store: one SQLite file a project, written while runs go on."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from torchmagic.records.codec import decode, encode
from torchmagic.session.document import header
from torchmagic.session.loading import from_header
from torchmagic.session.run import Run

SCHEMA = 1
FOLDER = ".torchmagic"
_TABLES = """
CREATE TABLE run (id TEXT PRIMARY KEY, started REAL NOT NULL, header TEXT NOT NULL);
CREATE TABLE record (run TEXT NOT NULL, number INTEGER NOT NULL, body TEXT NOT NULL, PRIMARY KEY (run, number));
CREATE TABLE block (run TEXT NOT NULL, metric TEXT NOT NULL, subjects TEXT NOT NULL, steps BLOB NOT NULL,
                    cells BLOB NOT NULL);
CREATE INDEX block_of_run ON block (run);
"""


class StoreError(Exception):
    """The store cannot be used; the message is one line that says why and what to do."""


class Store:
    """Runs of one project on disk.

    Writes go to the write-ahead log without waiting for the disk, so that they cost the training under 0.1 ms; a
    killed process loses at most what was not yet written.

    Args:
        path: The SQLite file; made, with its folder, when it is not there.

    Raises:
        StoreError: If the file is no store, comes from a newer torchmagic, or cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._saved_records: dict[str, int] = {}
        with self._told():
            path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(path, check_same_thread=False, isolation_level=None, timeout=2.0)
            try:
                self._prepare()
            except BaseException:
                self._db.close()
                raise

    def write(self, run: Run) -> None:
        """Write what is new in the run since the last call.

        Raises:
            StoreError: If it cannot be written.
        """
        done = self._saved_records.get(run.id, 0)
        records = run.records[done:]
        with self._told():
            self._db.execute("BEGIN IMMEDIATE")
            try:
                self._insert(run, done, records)
                self._db.execute("COMMIT")
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
        self._saved_records[run.id] = done + len(records)

    def runs(self) -> Iterator[str]:
        """Yield the ids of all runs, oldest first."""
        with self._told():
            yield from [row[0] for row in self._db.execute("SELECT id FROM run ORDER BY started")]

    def read(self, run_id: str) -> Run:
        """Return a run whole.

        Raises:
            KeyError: If there is no run of that id.
            StoreError: If the file cannot be read.
        """
        with self._told():
            row = self._db.execute("SELECT header FROM run WHERE id = ?", (run_id,)).fetchone()
            if row is None:
                raise KeyError(run_id)
            run = from_header(json.loads(row[0]))
            for (body,) in self._db.execute("SELECT body FROM record WHERE run = ? ORDER BY number", (run_id,)):
                run.records.append(decode(json.loads(body)))
            query = "SELECT metric, subjects, steps, cells FROM block WHERE run = ? ORDER BY rowid"
            for metric, subjects, steps, cells in self._db.execute(query, (run_id,)):
                run.frame(metric, json.loads(subjects)).load(steps, cells)
        return run

    def checkpoint(self) -> None:
        """Move the log into the file; done between runs because it waits for the disk.

        Raises:
            StoreError: If it cannot be written.
        """
        with self._told():
            self._db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()

    def close(self) -> None:
        """Close the file; safe to call twice."""
        self._db.close()

    def _prepare(self) -> None:
        version = self._db.execute("PRAGMA user_version").fetchone()[0]
        if version > SCHEMA:
            raise StoreError(
                f"{self.path} was written by a newer torchmagic (schema {version}, known {SCHEMA}); "
                "this run is kept in memory only: update torchmagic or move the file away"
            )
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = NORMAL")
        self._db.execute("PRAGMA wal_autocheckpoint = 0")  # a checkpoint waits for the disk; one is made at the close
        if version == 0:
            self._db.executescript(f"BEGIN IMMEDIATE; {_TABLES} PRAGMA user_version = {SCHEMA}; COMMIT;")
            (self.path.parent / ".gitignore").write_text("*\n")

    def _insert(self, run: Run, done: int, records: list[object]) -> None:
        self._db.execute(
            "INSERT INTO run VALUES (?, ?, ?) ON CONFLICT (id) DO UPDATE SET header = excluded.header",
            (run.id, run.clock.started, json.dumps(header(run))),
        )
        bodies = ((run.id, done + i, json.dumps(encode(record))) for i, record in enumerate(records))
        self._db.executemany("INSERT INTO record VALUES (?, ?, ?)", bodies)
        for frame in run.frames:
            new = frame.unsaved()
            if new is not None:
                row = (run.id, frame.metric, json.dumps(frame.subjects), *new)
                self._db.execute("INSERT INTO block VALUES (?, ?, ?, ?, ?)", row)

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Turn what SQLite or the disk says into one line."""
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise StoreError(
                f"{self.path} cannot be used ({error}); this run is kept in memory only: "
                "check the disk and the folder's rights, or move the file away"
            ) from error
