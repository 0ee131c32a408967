"""This file is what the store holds, read: the lines of the history, and runs whole."""

import json
import sqlite3
from pathlib import Path

from torchmagic.records.codec import decode
from torchmagic.session.database import reading
from torchmagic.session.entries import ENTRIES, entry_of_row
from torchmagic.session.loading import from_header, restore, subjects_of
from torchmagic.session.run import Run
from torchmagic.session.slim import whole


def read_run(path: Path, run_id: str) -> Run:
    """Return a run whole, as it stood at one moment.

    A run whose process died while it ran has the status ``lost``, and everything else as it was last written.

    Args:
        path: Where the store lies.
        run_id: Id of the run.

    Raises:
        KeyError: If there is no run of that id.
        StoreError: If the file cannot be read.
    """
    with reading(path) as db:
        db.execute("BEGIN")
        row = db.execute("SELECT header FROM run WHERE id = ?", (run_id,)).fetchone()
        run = None if row is None else _whole(db, from_header(json.loads(row[0])), run_id)
        entry = db.execute(f"{ENTRIES} WHERE run = ?", (run_id,)).fetchone()
        if run is not None and entry is not None:
            known = entry_of_row(entry, path.parent)
            run.number, run.note, run.tags, run.status = known.number, known.note, known.tags, known.status
    if run is None:
        raise KeyError(run_id)
    return run


def _whole(db: sqlite3.Connection, run: Run, run_id: str) -> Run:
    for (body,) in db.execute("SELECT body FROM record WHERE run = ? ORDER BY number", (run_id,)):
        run.records.append(decode(whole(json.loads(body))))
    query = "SELECT metric, subjects, steps, cells FROM block WHERE run = ? ORDER BY rowid"
    for metric, subjects, steps, cells in db.execute(query, (run_id,)):
        run.frame(str(metric), subjects_of(json.loads(subjects))).load(steps, cells)
    query = "SELECT metric, subjects, body FROM dropped WHERE run = ?"
    for metric, subjects, body in db.execute(query, (run_id,)):
        restore(run.frame(str(metric), subjects_of(json.loads(subjects))), json.loads(body))
    return run
