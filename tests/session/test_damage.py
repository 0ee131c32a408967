"""This file tests damaged files: whatever bytes they hold, reading is a run or one clear line, and it always ends."""

import contextlib
import random
import shutil
import sqlite3

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from torchmagic.records.series import Frame
from torchmagic.session.database import FILE, FOLDER, StoreError
from torchmagic.session.loading import from_json
from torchmagic.session.run import Run
from torchmagic.session.session import Session
from torchmagic.session.store import Store

RELAXED = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
positions = st.lists(st.floats(0, 1, exclude_max=True), min_size=1, max_size=8)


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """A store with runs of several kinds, all of it in one file."""
    path = tmp_path_factory.mktemp("sound") / FOLDER / FILE
    store = Store(path)
    for number in range(4):
        run = Run(name=f"run {number}", source="loss.backward()\n" * 40, settings={"level": "basic"})
        run.frames.append(Frame("loss", ("loss",), max_rows=16))
        for step in range(200):
            run.frames[0].append(step, (step / 7,))
            run.frame("grad_norm", tuple("abcdefgh")).append(step, [float(step)] * 8)
        store.write(run)
    store._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    store._db.execute("PRAGMA journal_mode = DELETE").fetchall()
    store.close()
    return path


def damaged(content, where, noise):
    """Overwrite single bytes."""
    content = bytearray(content)
    for share in where:
        content[int(share * len(content))] = noise.randrange(256)
    return bytes(content)


def ask_all(folder):
    """Ask a store all that can be asked; nothing but a StoreError or a KeyError may come of it."""
    session = Session(folder)
    session.lost()
    for entry in session.history():
        with contextlib.suppress(StoreError, KeyError):
            use(session.get(entry.number))
    assert all("\n" not in line for line in session.warnings)
    session.close()


def use(run):
    """Look at everything in a run."""
    run.to_json()
    for frame in run.frames:
        frame.greatest()
        frame.last()
        for name in frame.subjects:
            run.series(frame.metric, name=name)
    assert repr(run)
    assert run.parameters is not None


@RELAXED
@given(where=positions, noise=st.randoms(use_true_random=False))
def test_a_store_with_wrong_bytes_is_readable_or_refused(sound, tmp_path_factory, where, noise):
    folder = tmp_path_factory.mktemp("wrong")
    (folder / FOLDER).mkdir()
    (folder / FOLDER / FILE).write_bytes(damaged(sound.read_bytes(), where, noise))
    ask_all(folder)
    shutil.rmtree(folder)


@settings(RELAXED, max_examples=60)
@given(share=st.floats(0, 1))
def test_a_store_that_was_cut_off_is_readable_or_refused(sound, tmp_path_factory, share):
    folder = tmp_path_factory.mktemp("cut")
    (folder / FOLDER).mkdir()
    content = sound.read_bytes()
    (folder / FOLDER / FILE).write_bytes(content[: int(share * len(content))])
    ask_all(folder)
    shutil.rmtree(folder)


@settings(RELAXED, max_examples=60)
@given(table=st.sampled_from(["run", "record", "block", "dropped", "entry"]), body=st.text() | st.binary(max_size=40))
def test_a_cell_of_the_store_with_something_else_in_it_is_readable_or_refused(sound, tmp_path_factory, table, body):
    folder = tmp_path_factory.mktemp("cell")
    (folder / FOLDER).mkdir()
    path = folder / FOLDER / FILE
    path.write_bytes(sound.read_bytes())
    column = {"run": "header", "block": "cells"}.get(table, "body")
    with contextlib.closing(sqlite3.connect(path)) as db, db:
        plain = body.encode(errors="replace") if isinstance(body, str) else body
        db.execute(f"UPDATE {table} SET {column} = ?", (plain,))  # noqa: S608 - names of our own
    ask_all(folder)
    shutil.rmtree(folder)


def test_writing_to_a_store_with_wrong_bytes_raises_nothing(sound, tmp_path):
    noise = random.Random(5)  # noqa: S311 - noise, not a secret
    for attempt in range(25):
        folder = tmp_path / str(attempt)
        (folder / FOLDER).mkdir(parents=True)
        (folder / FOLDER / FILE).write_bytes(damaged(sound.read_bytes(), [noise.random() for _ in range(6)], noise))
        session = Session(folder)
        run = Run(name="new")
        session.add(run)
        session.write(run, final=True)
        assert [entry.name for entry in session.history() if entry.here] == ["new"]
        session.close()


@settings(RELAXED, max_examples=300)
@given(where=positions, noise=st.randoms(use_true_random=False), share=st.floats(0, 1) | st.none())
def test_a_saved_run_with_wrong_bytes_is_readable_or_a_value_error(full, where, noise, share):
    text = damaged(full.encode(), where, noise).decode(errors="replace")
    if share is not None:
        text = text[: int(share * len(text))]
    try:
        run = from_json(text)
    except ValueError as error:
        assert "\n" not in str(error)  # noqa: PT017 - either outcome is right
    else:
        use(run)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"records": [', '"records": ["x", '),
        ('"frames": [', '"frames": [7, '),
        ('"frames": [', '"frames": {"a": 1}, "was": ['),
        ('"subjects": ["loss"]', '"subjects": [["loss"]]'),
        ('"subjects": ["loss"]', '"subjects": "loss"'),
        ('"dropped": {', '"dropped": [], "was": {'),
        ('"low": [[', '"low": [[1, 2, '),
        ('"rows": [[', '"rows": [[1, '),
        ('"steps": [0, ', '"steps": [1e400, '),
        ('"steps": [0, ', '"steps": ["x", '),
        ('"started": ', '"started": "x", "was": '),
        ('"settings": ', '"settings": 3, "was": '),
        ('"findings": ', '"findings": 3, "was": '),
        ('"format": 1', '"format": "x"'),
        ('"status": "running"', '"status": "asleep"'),
        ('"steps": 9', '"steps": null'),
        ('"records": [', '"records": ' + "[" * 100_000 + '"x", '),
    ],
)
def test_a_saved_run_with_something_else_in_it_is_refused_in_one_line(full, old, new):
    assert old in full
    with pytest.raises(ValueError) as caught:
        from_json(full.replace(old, new, 1))
    assert "\n" not in str(caught.value)


@pytest.fixture(scope="module")
def full():
    run = Run(name="saved")
    run.steps = 9
    run.frames.append(Frame("loss", ("loss",), max_rows=4))
    for step in range(40):
        run.frames[0].append(step, (step / 7,))
    return run.to_json()
