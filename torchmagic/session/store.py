"""This file is the store: one SQLite file a project, written while runs go on."""

import json
import sqlite3
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from torchmagic.session import owner
from torchmagic.session.database import connected, reading, told
from torchmagic.session.document import dropped_plain, header
from torchmagic.session.history import body_of, entry_of, heading
from torchmagic.session.run import Run, Status
from torchmagic.session.schema import in_one_go, prepare
from torchmagic.session.slim import short
from torchmagic.session.stored import read_run

# A step that lasts longer than so many seconds lets the run's time go on.
LONG_STEP = 2.0
# Records of one statement; each has three cells, of which SQLite takes no more than 999.
MOST_TOGETHER = 128


@dataclass(slots=True)
class Mark:
    """How far a run is written: its records, of each frame the kept rows and all of them, and its header as JSON."""

    records: int = 0
    rows: dict[tuple[str, str], tuple[int, int]] = field(default_factory=dict)
    header: str = ""


class Store:
    """Runs of one project on disk.

    Writes go to the write-ahead log without waiting for the disk; a killed process loses at most what was not yet
    written. One thread at a time may write; any may read meanwhile, by a connection of its own.

    Args:
        path: The SQLite file; made, with its folder, when it is not there.
        marks: How far runs are written that another store of this process began; brought up to date.

    Raises:
        StoreError: If the file is no store, comes from a newer torchmagic, or cannot be written.
    """

    def __init__(self, path: Path, *, marks: dict[str, Mark] | None = None) -> None:
        self.path = path
        self._marks = {} if marks is None else marks
        with told(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            self._db = connected(path)
            try:
                prepare(self._db, path)
                self._inode = path.stat().st_ino
            except BaseException:
                self._db.close()
                raise

    def write(self, run: Run, *, least: int = 1) -> None:
        """Write what is new in the run since the last call, and give the run its number.

        Any thread may go on appending to the run meanwhile.

        Args:
            run: The run.
            least: The least number that a run without one may get.

        Raises:
            StoreError: If it cannot be written.
        """
        with told(self.path):
            number, mark = in_one_go(self._db, self._insert, run, least)
        run.number = number
        self._marks[run.id] = mark

    @property
    def is_gone(self) -> bool:
        """Whether somebody removed the file, so that what is written goes nowhere."""
        try:
            return self.path.stat().st_ino != self._inode
        except OSError:
            return True

    def runs(self) -> Iterator[str]:
        """Yield the ids of all runs, oldest first."""
        with reading(self.path) as db:
            yield from [row[0] for row in db.execute("SELECT id FROM run ORDER BY started")]

    def read(self, run_id: str) -> Run:
        """Return a run whole.

        Raises:
            KeyError: If there is no run of that id.
            StoreError: If the file cannot be read.
        """
        return read_run(self.path, run_id)

    def checkpoint(self) -> None:
        """Move the log into the file; done between runs because it waits for the disk.

        Raises:
            StoreError: If it cannot be written.
        """
        with told(self.path):
            self._db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()

    def close(self) -> None:
        """Close the file; safe to call twice."""
        self._db.close()

    def _insert(self, db: sqlite3.Connection, run: Run, least: int) -> tuple[int, Mark]:
        number = _number_of(db, run)
        mark = self._marks.get(run.id, Mark()) if number is not None else Mark()
        if number is None:
            number = _new_number(db, run, least)
        if run.status is Status.RUNNING:
            owner.hold(self.path.parent, number)
        else:
            owner.release(self.path.parent, number)
        plain = _header_now(run)
        head = json.dumps(plain)
        records = run.records[mark.records :]
        if head != mark.header:
            db.execute(
                "INSERT INTO run VALUES (?, ?, ?) ON CONFLICT (id) DO UPDATE SET header = excluded.header",
                (run.id, run.clock.started, head),
            )
            entry = replace(entry_of(run), seconds=plain["seconds"], heading=heading(run.name, plain["source"]))
            db.execute("UPDATE entry SET body = ? WHERE number = ?", (body_of(entry), number))
        _insert_records(db, run.id, mark.records, records)
        return number, Mark(mark.records + len(records), _insert_rows(db, run, mark), head)


def _insert_records(db: sqlite3.Connection, run_id: str, number: int, records: Sequence[object]) -> None:
    """Write records, many at a time: at each statement the training may come between."""
    for start in range(0, len(records), MOST_TOGETHER):
        some = records[start : start + MOST_TOGETHER]
        cells = [(run_id, number + start + i, short(record)) for i, record in enumerate(some)]
        marks = ", ".join(["(?, ?, ?)"] * len(some))
        statement = f"INSERT OR REPLACE INTO record VALUES {marks}"  # noqa: S608 - of question marks
        db.execute(statement, [cell for row in cells for cell in row])


def _insert_rows(db: sqlite3.Connection, run: Run, mark: Mark) -> dict[tuple[str, str], tuple[int, int]]:
    """Write the rows of all frames that are not written yet, and return how far each is written now."""
    done = dict(mark.rows)
    for frame in tuple(run.frames):
        key = frame.metric, json.dumps(frame.subjects)
        kept, seen = done.get(key, (0, 0))
        num_rows = len(frame)
        if num_rows == seen:
            continue
        steps, cells, kept = frame.rows_since(kept)
        done[key] = kept, num_rows
        if steps:
            db.execute("INSERT INTO block VALUES (?, ?, ?, ?, ?)", (run.id, *key, steps, cells))
        dropped = dropped_plain(frame)
        if dropped is not None:
            db.execute("INSERT OR REPLACE INTO dropped VALUES (?, ?, ?, ?)", (run.id, *key, json.dumps(dropped)))
    return done


def _header_now(run: Run) -> dict[str, Any]:
    """Return the header; in a step that lasts long the time that has passed, which else is read at a step's end."""
    plain = header(run)
    passed = time.time() - run.clock.started
    if run.status is Status.RUNNING and passed - run.clock.seconds > LONG_STEP:
        plain["seconds"] = passed
    return plain


def _number_of(db: sqlite3.Connection, run: Run) -> int | None:
    row = db.execute("SELECT number FROM entry WHERE run = ?", (run.id,)).fetchone()
    return None if row is None else int(row[0])


def _new_number(db: sqlite3.Connection, run: Run, least: int) -> int:
    """Give the run a line in the history: the number that it has, or the first that nobody ever had."""
    highest = db.execute("SELECT seq FROM sqlite_sequence WHERE name = 'entry'").fetchone()
    number = max(run.number or least, 1 + (highest[0] if highest is not None else 0))
    db.execute(
        "INSERT INTO entry (number, run, body, owner, note, tags) VALUES (?, ?, ?, ?, ?, ?)",
        (number, run.id, "", owner.this_process(), json.dumps(run.note), json.dumps(run.tags)),
    )
    return number
