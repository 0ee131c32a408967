"""This file tests the session: the runs of this process, and the store behind them that may fail."""

import hashlib

import pytest

from torchmagic.records.note import NoteRecord
from torchmagic.session.database import FOLDER
from torchmagic.session.run import Run
from torchmagic.session.session import Session
from torchmagic.session.store import Store


@pytest.fixture
def session(tmp_path):
    session = Session(tmp_path)
    yield session
    session.close()


def noted(text):
    run = Run()
    run.records.append(NoteRecord(text=text))
    return run


def test_the_last_run_is_the_newest(session):
    assert session.last is None
    first, second = Run(), Run()
    session.add(first)
    session.add(second)
    assert session.last is second
    assert session.runs == [first, second]
    assert repr(session) == "<Session: 2 runs>"


def test_nothing_is_made_on_disk_before_a_run_is_written(session, tmp_path):
    session.add(Run())
    assert list(tmp_path.iterdir()) == []


def test_a_final_write_is_on_disk_at_once(session, tmp_path):
    run = noted("hello")
    session.write(run, final=True)
    reader = Store(tmp_path / FOLDER / "session.sqlite")
    assert reader.read(run.id).of(NoteRecord) == [NoteRecord(text="hello")]
    reader.close()


def test_a_run_can_be_read_while_it_is_written(session):
    run = noted("first")
    session.write(run, final=True)
    for number in range(300):
        run.records.append(NoteRecord(text=str(number)))
        session.write(run, urgent=True)
        assert len(session.store.read(run.id).of(NoteRecord)) <= number + 2
    session.write(run, final=True)
    assert len(session.store.read(run.id).of(NoteRecord)) == 301


def test_forgetting_the_runs_keeps_those_on_disk(session):
    run = noted("hello")
    session.add(run)
    session.write(run, final=True)
    session.clear()
    assert session.runs == []
    assert list(session.store.runs()) == [run.id]


def test_a_closed_session_opens_its_store_again(session):
    first, second = noted("first"), noted("second")
    session.write(first, final=True)
    session.close()
    session.write(second, final=True)
    assert set(session.store.runs()) == {first.id, second.id}


def test_a_run_that_was_half_written_when_the_session_was_closed_is_written_to_its_end(session):
    run = noted("first")
    session.write(run, final=True)
    session.close()
    run.records.append(NoteRecord(text="second"))
    session.write(run, final=True)
    assert session.warnings == []
    assert [note.text for note in session.store.read(run.id).of(NoteRecord)] == ["first", "second"]


def test_a_broken_file_is_said_once_and_the_runs_go_on_in_memory(session, tmp_path):
    path = tmp_path / FOLDER / "session.sqlite"
    path.parent.mkdir()
    path.write_bytes(b"not a database, but somebody wants it" * 100)
    before = hashlib.sha256(path.read_bytes()).hexdigest()
    for number in range(3):
        run = noted(str(number))
        session.add(run)
        session.write(run)
        session.write(run, final=True)
    assert len(session.warnings) == 1
    assert "kept in memory only" in session.warnings[0]
    assert "\n" not in session.warnings[0]
    assert session.store is None
    assert [run.records[0].text for run in session.runs] == ["0", "1", "2"]
    assert hashlib.sha256(path.read_bytes()).hexdigest() == before


def test_a_disk_that_fills_up_is_said_once_and_nothing_is_lost_in_memory(session):
    session.write(noted("before"), final=True)
    pages = session.store._db.execute("PRAGMA page_count").fetchone()[0]
    session.store._db.execute(f"PRAGMA max_page_count = {pages}")
    run = Run(source="x" * 1_000_000)
    session.add(run)
    for step in range(5):
        run.frame("loss", ("loss",)).append(step, (float(step),))
        session.write(run, final=True)
    assert len(session.warnings) == 1
    assert "disk is full" in session.warnings[0]
    assert run.series("loss", name="loss")[0] == list(range(5))
    assert len(run.source) == 1_000_000


def test_a_record_that_cannot_be_written_is_said_once_and_raises_nothing(session):
    run = noted({"a", "set"})
    session.write(run)
    session.write(run, final=True)
    assert len(session.warnings) == 1
    assert "not JSON serializable" in session.warnings[0]


def test_closing_gives_a_broken_store_another_chance(session, tmp_path):
    path = tmp_path / FOLDER
    path.write_text("in the way")
    session.write(noted("first"), final=True)
    path.unlink()
    session.close()
    run = noted("second")
    session.write(run, final=True)
    assert list(session.store.runs()) == [run.id]


def test_without_a_working_directory_runs_stay_in_memory_until_there_is_one(tmp_path, monkeypatch):
    gone, later = tmp_path / "gone", tmp_path / "later"
    gone.mkdir()
    later.mkdir()
    session = Session()
    try:
        monkeypatch.chdir(gone)
        gone.rmdir()
        session.add(noted("first"))
        session.write(session.last, final=True)
        assert [entry.saved for entry in session.history()] == [False]
        assert (len(session.warnings), session.lost()) == (1, None)
        assert "kept in memory only" in session.warnings[0]
        monkeypatch.chdir(later)
        session.add(noted("second"))
        session.write(session.last, final=True)
        assert [entry.saved for entry in session.history()] == [False, True]
    finally:
        session.close()
        monkeypatch.chdir(tmp_path)
