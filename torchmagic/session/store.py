"""This file is the store: one SQLite file a project, written while runs go on."""

import json
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from torchmagic.records.codec import decode, encode
from torchmagic.session.document import dropped_plain, header
from torchmagic.session.loading import from_header, restore
from torchmagic.session.run import Run

SCHEMA = 1
FOLDER = ".torchmagic"
# Seconds to wait while another process writes.
PATIENCE = 2.0
_TABLES = """
CREATE TABLE run (id TEXT PRIMARY KEY, started REAL NOT NULL, header TEXT NOT NULL);
CREATE TABLE record (run TEXT NOT NULL, number INTEGER NOT NULL, body TEXT NOT NULL, PRIMARY KEY (run, number));
CREATE TABLE block (run TEXT NOT NULL, metric TEXT NOT NULL, subjects TEXT NOT NULL, steps BLOB NOT NULL,
                    cells BLOB NOT NULL);
CREATE TABLE dropped (run TEXT NOT NULL, metric TEXT NOT NULL, subjects TEXT NOT NULL, body TEXT NOT NULL,
                      PRIMARY KEY (run, metric, subjects));
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
            self._db = sqlite3.connect(path, check_same_thread=False, isolation_level=None, timeout=PATIENCE)
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
                self._roll_back()
                raise
        self._saved_records[run.id] = done + len(records)
        for frame in run.frames:
            frame.mark_saved()

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
            query = "SELECT metric, subjects, body FROM dropped WHERE run = ?"
            for metric, subjects, body in self._db.execute(query, (run_id,)):
                restore(run.frame(metric, json.loads(subjects)), json.loads(body))
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
        if version == 0:
            self._make_tables()
        self._log_ahead()
        self._db.execute("PRAGMA synchronous = NORMAL")
        self._db.execute("PRAGMA wal_autocheckpoint = 0")  # a checkpoint waits for the disk; one is made at the close

    def _make_tables(self) -> None:
        """Make the tables, unless another process made them while this one waited for its turn."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            if self._db.execute("PRAGMA user_version").fetchone()[0] == 0:
                self._fill()
            self._db.execute("COMMIT")
        except BaseException:
            self._roll_back()
            raise
        (self.path.parent / ".gitignore").write_text("*\n")

    def _fill(self) -> None:
        if self._db.execute("SELECT 1 FROM sqlite_master").fetchone() is not None:
            raise StoreError(f"{self.path} is no store of torchmagic; this run is kept in memory only: move it away")
        for statement in _TABLES.split(";"):
            self._db.execute(statement)
        self._db.execute(f"PRAGMA user_version = {SCHEMA}")

    def _log_ahead(self) -> None:
        """Switch to the write-ahead log; SQLite does not wait its turn here when two processes open a new file."""
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                self._db.execute("PRAGMA journal_mode = WAL")
            except sqlite3.OperationalError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.01)
            else:
                return

    def _roll_back(self) -> None:
        if self._db.in_transaction:  # a full disk has rolled back already
            self._db.execute("ROLLBACK")

    def _insert(self, run: Run, done: int, records: list[object]) -> None:
        self._db.execute(
            "INSERT INTO run VALUES (?, ?, ?) ON CONFLICT (id) DO UPDATE SET header = excluded.header",
            (run.id, run.clock.started, json.dumps(header(run))),
        )
        bodies = ((run.id, done + i, json.dumps(encode(record))) for i, record in enumerate(records))
        self._db.executemany("INSERT OR REPLACE INTO record VALUES (?, ?, ?)", bodies)
        for frame in run.frames:
            key = (run.id, frame.metric, json.dumps(frame.subjects))
            new, dropped = frame.unsaved(), dropped_plain(frame)
            if new is not None:
                self._db.execute("INSERT INTO block VALUES (?, ?, ?, ?, ?)", (*key, *new))
            if dropped is not None:
                self._db.execute("INSERT OR REPLACE INTO dropped VALUES (?, ?, ?, ?)", (*key, json.dumps(dropped)))

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Turn what SQLite, the disk or the codec says into one line."""
        try:
            yield
        except (sqlite3.Error, OSError, TypeError, ValueError) as error:
            raise StoreError(
                f"{self.path} cannot be used ({error}); this run is kept in memory only: "
                "check the disk and the folder's rights, or move the file away"
            ) from error
