"""This file tests disks that will not: a small one filled up, one that cannot be written, a file that is locked."""

import contextlib
import sqlite3
import subprocess
import time

import pytest

from torchmagic.records.note import NoteRecord
from torchmagic.session.database import StoreError, connected
from torchmagic.session.run import Run, Status
from torchmagic.session.session import Session


@contextlib.contextmanager
def mounted(folder, *options):
    """Mount a disk in memory on a folder."""
    folder.mkdir(exist_ok=True)
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", ",".join(options), "tmpfs", str(folder)], check=False)
    if done.returncode:
        pytest.skip("mounting a disk needs root")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.fixture
def small_disk(tmp_path):
    with mounted(tmp_path / "disk", "size=256k") as disk:
        yield disk


@pytest.fixture
def closing():
    sessions = []
    yield lambda folder: sessions.append(Session(folder)) or sessions[-1]
    for session in sessions:
        session.close()


def long_run(num_steps=1, *, size=1, name=""):
    run = Run(name=name)
    for step in range(num_steps):
        go_on(run, step, size=size)
    return run


def go_on(run, step, *, size=1):
    run.records.append(NoteRecord(text=f"{step}" * size))
    run.frame("loss", ("loss",)).append(step, (float(step),))
    run.steps = step + 1


def end(session, run):
    run.status = Status.OK
    session.write(run, final=True)


def test_a_disk_that_fills_up_is_said_once_and_takes_what_it_refused_once_there_is_room(small_disk, closing):
    session = closing(small_disk)
    first = long_run(5, name="first")
    end(session, first)
    (small_disk / "ballast").write_bytes(b"")
    with contextlib.suppress(OSError), (small_disk / "ballast").open("wb", buffering=0) as file:
        while True:
            file.write(b"x" * 4096)
    second = long_run(2000, size=20, name="second")
    session.add(second)
    session.write(second)
    end(session, second)
    assert len(session.warnings) == 1
    assert "disk is full" in session.warnings[0] or "I/O error" in session.warnings[0]
    assert len(second.records) == 2000
    assert [entry.name for entry in Session(small_disk).history()] == ["first"]
    assert len(Session(small_disk).get("first").records) == 5
    (small_disk / "ballast").unlink()
    third = long_run(1, name="third")
    end(session, third)
    assert {entry.name for entry in Session(small_disk).history()} >= {"first", "third"}


def test_a_full_disk_in_the_middle_of_a_run_keeps_what_was_written_before(small_disk, closing):
    session = closing(small_disk)
    run = long_run(50, name="long")
    session.write(run)
    deadline = time.monotonic() + 60
    step = 50
    while not session.warnings and time.monotonic() < deadline:
        for _ in range(200):
            go_on(run, step, size=10)
            step += 1
        session.write(run, urgent=True)
        time.sleep(0.02)
    end(session, run)
    assert len(session.warnings) == 1
    stored = Session(small_disk).get("long")
    assert [record.text for record in stored.records] == [record.text for record in run.records][: len(stored.records)]
    assert len(stored.records) >= 50
    assert len(run.records) == step


def test_a_folder_that_cannot_be_written_is_said_once_and_its_history_stays_readable(tmp_path, closing):
    with mounted(tmp_path / "disk", "size=4m") as disk:
        before = closing(disk)
        end(before, long_run(3, name="before"))
        before.close()
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        session = closing(disk)
        for name in ("first", "second"):
            run = long_run(3, name=name)
            session.add(run)
            session.write(run)
            end(session, run)
        assert len(session.warnings) == 1
        assert "kept in memory only" in session.warnings[0]
        history = session.history()
        assert [(entry.name, entry.number, entry.saved) for entry in history] == [
            ("before", 1, True),
            ("first", 2, False),
            ("second", 3, False),
        ]
        assert len(session.get(1).records) == 3
        session.annotate("first", note="in memory")
        assert session.get("first").note == "in memory"
        with pytest.raises(StoreError, match="cannot be changed"):
            session.annotate("before", note="on the disk")
        assert session.get("before").note == ""


def test_a_new_folder_on_a_disk_that_cannot_be_written_is_said_once(tmp_path, closing):
    with mounted(tmp_path / "disk", "ro"):
        session = closing(tmp_path / "disk")
        run = long_run(3)
        session.add(run)
        end(session, run)
        assert len(session.warnings) == 1
        assert "Read-only file system" in session.warnings[0]
        assert [entry.number for entry in session.history()] == [1]


def test_a_locked_file_holds_nobody_up_and_gets_all_once_it_is_free(tmp_path, closing):
    session = closing(tmp_path)
    end(session, long_run(1, name="before"))
    blocker = connected(session.path)
    blocker.execute("BEGIN IMMEDIATE")
    run = long_run(0, name="blocked")
    session.add(run)
    slowest = 0.0
    for step in range(300):
        began = time.perf_counter()
        session.write(run, urgent=step % 50 == 0)
        go_on(run, step)
        slowest = max(slowest, time.perf_counter() - began)
        time.sleep(0.01)
    assert slowest < 0.5
    assert len(session.warnings) == 1
    assert "locked" in session.warnings[0]
    blocker.execute("ROLLBACK")
    blocker.close()
    end(session, run)
    assert len(Session(tmp_path).get("blocked").records) == 300
    assert len(session.warnings) == 1


def test_the_end_of_a_run_waits_for_a_locked_file_but_not_for_long(tmp_path, closing):
    session = closing(tmp_path)
    end(session, long_run(1, name="before"))
    blocker = connected(session.path)
    blocker.execute("BEGIN IMMEDIATE")
    run = long_run(3, name="blocked")
    session.add(run)
    began = time.monotonic()
    end(session, run)
    assert time.monotonic() - began < 4.0
    blocker.close()
    end(session, long_run(1, name="after"))
    assert {entry.name for entry in Session(tmp_path).history()} == {"before", "blocked", "after"}


def test_a_folder_removed_under_a_run_gets_all_of_it_again(tmp_path, closing):
    session = closing(tmp_path)
    run = long_run(5, name="moved")
    session.add(run)
    session.write(run)
    deadline = time.monotonic() + 60
    while not run.number and time.monotonic() < deadline:
        time.sleep(0.01)
    session.path.parent.rename(tmp_path / "away")
    go_on(run, 5)
    end(session, run)
    assert [record.text for record in Session(tmp_path).get("moved").records] == list("012345")
    assert session.warnings == []


@pytest.mark.parametrize("damage", ["truncated", "noise", "newer"])
def test_a_file_that_cannot_be_used_is_left_alone_while_runs_go_on_in_memory(tmp_path, closing, damage):
    first = closing(tmp_path)
    for number in range(20):
        end(first, long_run(20, size=30, name=str(number)))
    path = first.path
    first.close()
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        if damage == "newer":
            db.execute("PRAGMA user_version = 99")
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    content = path.read_bytes()
    if damage == "truncated":
        path.write_bytes(content[: len(content) // 2])
    elif damage == "noise":
        path.write_bytes(b"\x17" * len(content))
    before = path.read_bytes()
    session = closing(tmp_path)
    run = long_run(3, name="now")
    session.add(run)
    session.write(run)
    end(session, run)
    assert [entry.name for entry in session.history() if entry.here] == ["now"]
    assert len(session.warnings) >= 1
    assert all("\n" not in line for line in session.warnings)
    if damage != "truncated":
        assert path.read_bytes() == before
    assert len(session.get("now").records) == 3
