"""This file tests the store: runs on disk, written while they go on, and what happens when the disk will not."""

import hashlib
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import textwrap

import pytest

from torchmagic.records.note import NoteRecord
from torchmagic.records.series import Frame
from torchmagic.session.database import StoreError
from torchmagic.session.run import Run, Status
from torchmagic.session.schema import SCHEMA
from torchmagic.session.store import MOST_TOGETHER, Store


@pytest.fixture
def path(tmp_path):
    return tmp_path / ".torchmagic" / "session.sqlite"


@pytest.fixture
def store(path):
    store = Store(path)
    yield store
    store.close()


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def noise(size):
    return random.Random(size).randbytes(size)  # noqa: S311 - noise, not a secret


def refused(path):
    """Return the message with which a store refuses a path."""
    with pytest.raises(StoreError) as caught:
        Store(path)
    message = str(caught.value)
    assert "\n" not in message
    assert str(path) in message
    return message


def start(code, *arguments):
    """Start a child process that runs the code."""
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def test_a_run_comes_back_whole(store, full_run, same_run):
    store.write(full_run)
    same_run(full_run, store.read(full_run.id))


def test_a_run_written_in_pieces_comes_back_whole(store, path, full_run, same_run):
    run = Run(run_id=full_run.id, name=full_run.name, source=full_run.source, settings=full_run.settings)
    run.clock = full_run.clock
    for record in full_run.records:
        run.records.append(record)
        store.write(run)
    for step in range(4):
        for frame in full_run.frames:
            values = [frame.column(name)[1][step] for name in frame.subjects]
            run.frame(frame.metric, frame.subjects).append(step, values)
        store.write(run)
    run.status, run.steps, run.findings = full_run.status, full_run.steps, full_run.findings
    store.write(run)
    other = Store(path)
    same_run(full_run, other.read(run.id))
    other.close()


@pytest.mark.parametrize("pieces", [(MOST_TOGETHER,), (3 * MOST_TOGETHER + 1,), (1, 2 * MOST_TOGETHER, 5)])
def test_however_many_records_come_at_once_they_keep_their_order(store, pieces):
    run, number = Run(), 0
    for piece in pieces:
        run.records.extend(NoteRecord(text=str(number + i)) for i in range(piece))
        number += piece
        store.write(run)
    assert [record.text for record in store.read(run.id).records] == [str(i) for i in range(number)]


def test_writing_twice_writes_nothing_twice(store, full_run, same_run):
    store.write(full_run)
    store.write(full_run)
    same_run(full_run, store.read(full_run.id))


def test_a_long_series_keeps_its_last_least_and_greatest_value_on_disk(store):
    run = Run()
    run.frames.append(Frame("loss", ("loss",), max_rows=16))
    for step in range(1000):
        run.frames[0].append(step, (99.0 if step == 501 else -99.0 if step == 733 else 1.0,))
        if step % 90 == 0:
            store.write(run)
    store.write(run)
    steps, values = store.read(run.id).series("loss", name="loss")
    points = dict(zip(steps, values, strict=True))
    assert (points[501], points[733], steps[-1]) == (99.0, -99.0, 999)
    assert len(steps) == len(points)


def test_an_extreme_that_was_stored_before_it_was_thinned_away_comes_back_once(store):
    run = Run()
    run.frames.append(Frame("loss", ("loss",), max_rows=16))
    for step in range(40):
        run.frames[0].append(step, (99.0 if step == 7 else 1.0,))
        if step == 14:
            store.write(run)
    store.write(run)
    steps, values = store.read(run.id).series("loss", name="loss")
    assert steps.count(7) == 1
    assert values[steps.index(7)] == 99.0


def test_runs_are_listed_oldest_first(store):
    runs = [Run() for _ in range(3)]
    for i, run in enumerate(runs):
        run.clock.started = 100.0 - i
        store.write(run)
    assert list(store.runs()) == [run.id for run in reversed(runs)]


def test_an_unknown_run_is_a_key_error(store):
    with pytest.raises(KeyError):
        store.read("no such run")


def test_a_run_that_goes_on_can_be_read_by_another_store(store, path):
    run = Run()
    run.records.append(NoteRecord(text="first"))
    store.write(run)
    reader = Store(path)
    assert reader.read(run.id).status is Status.RUNNING
    run.records.append(NoteRecord(text="second"))
    run.status = Status.OK
    store.write(run)
    assert [note.text for note in reader.read(run.id).of(NoteRecord)] == ["first", "second"]
    assert reader.read(run.id).status is Status.OK
    reader.close()


def test_the_folder_hides_itself_from_git(store, path):
    assert (path.parent / ".gitignore").read_text() == "*\n"


def test_closing_twice_is_safe(path):
    store = Store(path)
    store.close()
    store.close()


def test_a_killed_process_leaves_every_acknowledged_write_readable(path):
    child = start(
        """
        import sys
        from pathlib import Path
        from torchmagic.records.note import NoteRecord
        from torchmagic.session.run import Run
        from torchmagic.session.store import MOST_TOGETHER, Store
        store, run, step = Store(Path(sys.argv[1])), Run(run_id="killed"), 0
        while True:
            run.records.append(NoteRecord(text=str(step)))
            run.frame("loss", ("loss",)).append(step, (float(step),))
            store.write(run)
            print(step, flush=True)
            step += 1
        """,
        path,
    )
    with child:
        acknowledged = [int(child.stdout.readline()) for _ in range(50)]
        child.send_signal(signal.SIGKILL)
        acknowledged += [int(line) for line in child.stdout.read().splitlines()]
    store = Store(path)
    run = store.read("killed")
    assert [int(note.text) for note in run.of(NoteRecord)][: len(acknowledged)] == acknowledged
    assert run.series("loss", name="loss")[0][: len(acknowledged)] == acknowledged
    store.close()


def test_processes_that_start_at_once_write_the_same_new_file(path):
    path.parent.mkdir()
    children = [
        start(
            """
            import sys
            from pathlib import Path
            from torchmagic.records.note import NoteRecord
            from torchmagic.session.run import Run
            from torchmagic.session.store import MOST_TOGETHER, Store
            folder, name = Path(sys.argv[1]).parent, sys.argv[2]
            print("ready", flush=True)
            sys.stdin.readline()
            for attempt in range(20):
                store, run = Store(folder / f"{attempt}.sqlite"), Run(run_id=name)
                for number in range(10):
                    run.records.append(NoteRecord(text=str(number)))
                    store.write(run)
                store.checkpoint()
                store.close()
            """,
            path,
            name,
        )
        for name in ("one", "two")
    ]
    for child in children:
        assert child.stdout.readline() == "ready\n"
    for child in children:
        child.stdin.write("go\n")
        child.stdin.flush()
    for child in children:
        child.communicate(timeout=300)
        assert child.returncode == 0
    for attempt in range(20):
        store = Store(path.parent / f"{attempt}.sqlite")
        assert [len(store.read(name).of(NoteRecord)) for name in ("one", "two")] == [10, 10]
        store.close()


def test_a_file_of_a_newer_version_is_left_alone(path):
    Store(path).close()
    database = sqlite3.connect(path)
    database.execute(f"PRAGMA user_version = {SCHEMA + 1}")
    database.execute("PRAGMA journal_mode = DELETE")
    database.close()
    before = digest(path)
    message = refused(path)
    assert f"newer torchmagic (schema {SCHEMA + 1}, known {SCHEMA})" in message
    assert "update torchmagic or move the file away" in message
    assert digest(path) == before


@pytest.mark.parametrize("size", [100, 4096, 20_000])
def test_a_file_of_noise_is_left_alone(path, size):
    path.parent.mkdir()
    path.write_bytes(noise(size))
    before = digest(path)
    assert "cannot be used" in refused(path)
    assert digest(path) == before
    assert sorted(each.name for each in path.parent.iterdir()) == [path.name]


def test_a_store_whose_middle_was_overwritten_says_so(path, full_run):
    store = Store(path)
    store.write(full_run)
    store._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    store.close()
    content = bytearray(path.read_bytes())
    content[4096:] = noise(len(content) - 4096)
    path.write_bytes(content)
    before = digest(path)
    assert "malformed" in refused(path)
    assert digest(path) == before


def test_somebody_elses_database_is_left_alone(path):
    path.parent.mkdir()
    database = sqlite3.connect(path)
    database.execute("CREATE TABLE song (title TEXT)")
    database.close()
    before = digest(path)
    assert "is no store of torchmagic" in refused(path)
    assert digest(path) == before


def test_a_file_where_the_folder_is_wanted_is_left_alone(path):
    path.parent.write_text("mine")
    assert "cannot be used" in refused(path)
    assert path.parent.read_text() == "mine"


def test_a_folder_in_place_of_the_file_is_left_alone(path):
    path.mkdir(parents=True)
    assert "unable to open database file" in refused(path)
    assert path.is_dir()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_folder_is_said(path):
    path.parent.mkdir()
    path.parent.chmod(0o500)
    assert "cannot be used" in refused(path)


def test_a_full_disk_is_named_and_the_file_stays_readable(store, full_run):
    store.write(full_run)
    pages = store._db.execute("PRAGMA page_count").fetchone()[0]
    store._db.execute(f"PRAGMA max_page_count = {pages}")
    big = Run(source="x" * 1_000_000)
    with pytest.raises(StoreError, match="disk is full") as caught:
        store.write(big)
    assert "\n" not in str(caught.value)
    assert list(store.runs()) == [full_run.id]


def test_what_a_full_disk_refused_is_written_once_there_is_room(store, full_run, same_run):
    for step in range(4, 50_000):
        full_run.frame("loss", ("loss",)).append(step, (1.0,))
    pages = store._db.execute("PRAGMA page_count").fetchone()[0]
    store._db.execute(f"PRAGMA max_page_count = {pages + 2}")
    with pytest.raises(StoreError):
        store.write(full_run)
    store._db.execute("PRAGMA max_page_count = 1000000")
    store.write(full_run)
    same_run(full_run, store.read(full_run.id))


def test_what_cannot_be_written_is_said_and_the_store_stays_usable(store, full_run, same_run):
    odd = Run()
    odd.records.append(NoteRecord(text={"a", "set"}))
    with pytest.raises(StoreError, match="not JSON serializable") as caught:
        store.write(odd)
    assert "\n" not in str(caught.value)
    store.write(full_run)
    same_run(full_run, store.read(full_run.id))
    assert list(store.runs()) == [full_run.id]


def test_the_header_on_disk_is_plain_json(store, full_run):
    store.write(full_run)
    header = store._db.execute("SELECT header FROM run").fetchone()[0]
    assert json.loads(header)["status"] == "error"
