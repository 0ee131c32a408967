"""This file tests the history: one line a run, numbers that never change, notes, and stores of the first schema."""

import contextlib
import json
import math
import sqlite3
import time
from array import array

import pytest

from torchmagic.records.finding import Finding, Severity
from torchmagic.session.database import FILE, FOLDER
from torchmagic.session.history import heading
from torchmagic.session.run import Run, Status
from torchmagic.session.session import Session
from torchmagic.session.store import Store

# The tables as the first schema made them; not taken from the code, which may change.
FIRST_SCHEMA = """
CREATE TABLE run (id TEXT PRIMARY KEY, started REAL NOT NULL, header TEXT NOT NULL);
CREATE TABLE record (run TEXT NOT NULL, number INTEGER NOT NULL, body TEXT NOT NULL, PRIMARY KEY (run, number));
CREATE TABLE block (run TEXT NOT NULL, metric TEXT NOT NULL, subjects TEXT NOT NULL, steps BLOB NOT NULL,
                    cells BLOB NOT NULL);
CREATE TABLE dropped (run TEXT NOT NULL, metric TEXT NOT NULL, subjects TEXT NOT NULL, body TEXT NOT NULL,
                      PRIMARY KEY (run, metric, subjects));
CREATE INDEX block_of_run ON block (run);
PRAGMA user_version = 1;
"""


@pytest.fixture
def session(tmp_path):
    session = Session(tmp_path)
    yield session
    session.close()


@pytest.fixture
def later(tmp_path):
    """Another kernel's session in the same project."""
    later = Session(tmp_path)
    yield later
    later.close()


def ended(session, name="", *, losses=(), source="", findings=(), settings=None):
    """Keep a run that ended well."""
    run = Run(name=name, source=source, settings=settings)
    session.add(run)
    for step, loss in enumerate(losses):
        run.frame("loss", ("loss",)).append(step, (loss,))
    run.steps, run.status, run.findings = len(losses), Status.OK, tuple(findings)
    session.write(run, final=True)
    return run


def finding(severity):
    return Finding(rule="x", severity=severity, confidence=1.0, title="t")


def first_schema(folder, headers, *, blocks=()):
    """Make a store as the first version did."""
    (folder / FOLDER).mkdir()
    with contextlib.closing(sqlite3.connect(folder / FOLDER / FILE)) as db, db:
        db.executescript(FIRST_SCHEMA)
        for header in headers:
            db.execute("INSERT INTO run VALUES (?, ?, ?)", (header["id"], header["started"], json.dumps(header)))
        db.executemany("INSERT INTO block VALUES (?, ?, ?, ?, ?)", blocks)


def old_header(run_id, started, **fields):
    plain = {"id": run_id, "name": "", "source": "", "settings": {}, "status": "ok", "started": started}
    return {**plain, "seconds": 2.0, "cost": 0.1, "steps": 3, "findings": [], **fields}


def test_a_line_tells_a_run_without_the_whole_of_it(session, later):
    found = [finding(Severity.ERROR), finding(Severity.INFO), finding(Severity.INFO)]
    run = ended(session, "sweep", losses=[3.0, 2.0, 1.0], findings=found)
    run.clock.seconds, run.clock.cost = 5.0, 0.5
    session.write(run, final=True)
    (entry,) = later.history()
    assert (entry.number, entry.id, entry.name, entry.heading) == (1, run.id, "sweep", "sweep")
    assert (entry.status, entry.steps, entry.seconds, entry.cost) == (Status.OK, 3, 5.0, 0.5)
    assert (entry.errors, entry.warnings, entry.infos) == (1, 0, 2)
    assert entry.loss == (3.0, 2.0, 1.0)
    assert entry.started == run.clock.started
    assert (entry.here, entry.saved) == (False, True)
    (mine,) = session.history()
    assert (mine.here, mine.saved, mine.number, mine.loss) == (True, True, 1, entry.loss)


def test_a_long_loss_is_told_in_sixty_values_from_its_first_to_its_last(session, later):
    ended(session, losses=[float(step) for step in range(1000)])
    (entry,) = later.history()
    assert len(entry.loss) == 60
    assert (entry.loss[0], entry.loss[-1]) == (0.0, 999.0)
    assert list(entry.loss) == sorted(entry.loss)


def test_a_loss_that_is_not_finite_survives(session, later):
    ended(session, losses=[1.0, math.inf, math.nan])
    assert repr(later.history()[0].loss) == "(1.0, inf, nan)"


@pytest.mark.parametrize(
    ("name", "source", "wanted"),
    [
        ("sweep", "x = 1", "sweep"),
        ("", "%%torchdebug --level basic\n\n# a comment\n  for x in loader:\n    ...", "for x in loader:"),
        ("", "", ""),
        ("", "# only this", ""),
        ("", "x" * 1000, "x" * 200),
    ],
)
def test_a_run_is_called_by_its_name_or_its_first_line_of_code(name, source, wanted):
    assert heading(name, source) == wanted


def test_numbers_go_on_from_kernel_to_kernel_and_never_change(session, later):
    assert [ended(session, name).number for name in "ab"] == [1, 2]
    assert [ended(later, name).number for name in "cd"] == [3, 4]
    assert [(entry.number, entry.name) for entry in session.history()] == [(1, "a"), (2, "b"), (3, "c"), (4, "d")]
    later.clear()
    assert ended(later, "e").number == 5


def test_a_run_is_found_by_number_place_id_and_name(session, later):
    first, second, third = (ended(session, name) for name in ("same", "same", "other"))
    for which, wanted in [(1, first), (-1, third), (-3, first), (second.id, second), ("same", second), ("2", second)]:
        assert later.get(which).id == wanted.id, which
        assert session.get(which) is wanted, which
    assert later.get("last").id == third.id
    mine = ended(later, "mine")
    ended(session, "newer")
    assert later.get("last") is mine


@pytest.mark.parametrize("which", [0, 9, -4, "nothing", "", "9"])
def test_a_run_that_is_not_there_is_one_line_that_says_which_are(session, which):
    for name in "abc":
        ended(session, name)
    with pytest.raises(KeyError) as caught:
        session.get(which)
    (line,) = caught.value.args
    assert "\n" not in line
    assert "there are 3 runs, with numbers from 1 to 3" in line


def test_an_empty_history_says_how_a_run_comes_into_it(session):
    assert session.history() == []
    with pytest.raises(KeyError, match="there is no run yet; watch one with"):
        session.get("last")


def test_runs_of_this_process_that_are_not_saved_have_numbers_as_well(session, later):
    ended(later, "stored")
    for name in ("first", "second"):
        session.add(Run(name=name))
    assert [(entry.number, entry.name, entry.saved) for entry in session.history()] == [
        (1, "stored", True),
        (2, "first", False),
        (3, "second", False),
    ]
    assert session.get(3).name == "second"
    assert ended(session, "third").number == 4


def test_a_note_and_tags_reach_earlier_runs_and_stay(session, later, tmp_path):
    ended(session, "sweep")
    later.annotate(1, note="too hot \ud800 <b>", tags=["lr", "bad", "lr"])
    later.annotate("sweep", tags=("lr",))
    (entry,) = Session(tmp_path).history()
    assert (entry.note, entry.tags) == ("too hot \ud800 <b>", ("lr",))
    run = Session(tmp_path).get(1)
    assert (run.note, run.tags, run.number) == ("too hot \ud800 <b>", ("lr",), 1)


def test_a_note_given_while_the_run_goes_on_is_kept_by_later_writes(session, later):
    run = Run(name="going")
    session.add(run)
    session.annotate("going", note="before it is stored")
    session.write(run, final=True)
    assert later.get("going").note == "before it is stored"
    session.annotate("going", note="after", tags=["x"])
    run.steps = 7
    session.write(run, final=True)
    assert (later.get("going").note, later.get("going").tags, later.get("going").steps) == ("after", ("x",), 7)


def test_clearing_forgets_this_process_and_if_wanted_the_store(session, later):
    ended(session, "a")
    session.clear()
    assert [entry.name for entry in session.history()] == ["a"]
    going = Run(name="going")
    later.add(going)
    later.write(going)
    deadline = time.monotonic() + 60
    while not going.number and time.monotonic() < deadline:
        time.sleep(0.01)
    session.clear(stored=True)
    assert [entry.name for entry in session.history()] == ["going"]
    assert ended(session, "b").number == 3
    session.clear(stored=True)
    assert ended(session, "c").number == 4


def test_a_source_that_is_not_to_be_kept_is_not_stored(session, later):
    run = ended(session, source="secret = 1", settings={"keep_source": False})
    assert session.get(run.id).source == "secret = 1"
    assert later.get(run.id).source == ""
    session._kept().close()
    assert all(b"secret" not in each.read_bytes() for each in session.path.parent.iterdir())


def test_a_store_of_the_first_schema_keeps_its_runs_and_gets_numbers(tmp_path, session):
    losses = array("d", [float(step) for step in range(100)])
    steps = array("q", range(100))
    block = ("early", "loss", '["loss"]', steps.tobytes(), losses.tobytes())
    found = [{"kind": "Finding", "rule": "x", "severity": "warning", "confidence": 1.0, "title": "t"}]
    first_schema(
        tmp_path,
        [old_header("late", 200.0, source="%%torchdebug\ntrain()"), old_header("early", 100.0, findings=found)],
        blocks=[block],
    )
    early, late = session.history()
    assert (early.number, early.id, early.warnings, early.errors) == (1, "early", 1, 0)
    assert (late.number, late.id, late.heading, late.loss) == (2, "late", "train()", ())
    assert (len(early.loss), early.loss[0], early.loss[-1]) == (60, 0.0, 99.0)
    assert session.get(1).series("loss")[1] == list(losses)
    assert ended(session, "new").number == 3
    assert session.lost() is None


def test_a_run_that_an_older_torchmagic_wrote_after_the_migration_is_adopted(tmp_path, session, later):
    first_schema(tmp_path, [old_header("old", 100.0)])
    assert len(session.history()) == 1
    with contextlib.closing(sqlite3.connect(session.path)) as db, db:
        header = json.dumps(old_header("newer", 300.0, name="still old"))
        db.execute("INSERT INTO run VALUES ('newer', 300.0, ?)", (header,))
    ended(later, "new")
    assert {entry.name for entry in later.history()} == {"", "still old", "new"}


def test_a_damaged_line_is_left_out_and_said_once(session, later):
    ended(session, "a")
    ended(session, "b")
    with contextlib.closing(sqlite3.connect(session.path)) as db, db:
        db.execute("UPDATE entry SET body = '{' WHERE number = 1")
    assert [entry.name for entry in later.history()] == ["b"]
    assert [entry.name for entry in later.history()] == ["b"]
    assert len(later.warnings) == 1


def test_the_history_of_five_hundred_runs_does_not_read_them(tmp_path, later):
    store = Store(tmp_path / FOLDER / FILE)
    for number in range(500):
        run = Run(name=str(number), source="x = 1\n" * 50)
        frame = run.frame("loss", ("loss",))
        for step in range(200):
            frame.append(step, (1.0,))
        run.status = Status.OK
        store.write(run)
    with contextlib.closing(sqlite3.connect(tmp_path / FOLDER / FILE)) as db, db:
        for table in ("record", "block", "dropped", "run"):
            db.execute(f"DROP TABLE {table}")
        db.execute("CREATE TABLE run (id TEXT, started REAL, header TEXT)")
    store.close()
    assert len(later.history()) == 500
    seconds = []
    for _ in range(5):
        began = time.perf_counter()
        later.history()
        seconds.append(time.perf_counter() - began)
    assert min(seconds) < 0.1
