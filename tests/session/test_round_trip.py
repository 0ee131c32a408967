"""This file tests that any run comes back from the store as it was, in however many pieces it was written."""

import contextlib
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from torchmagic.records.finding import Finding, Severity
from torchmagic.records.note import CrashRecord, NoteRecord
from torchmagic.records.series import Frame
from torchmagic.session.loading import from_json
from torchmagic.session.run import Run, Status
from torchmagic.session.store import Store

words = st.text(max_size=12)
names = st.lists(words, min_size=1, max_size=4, unique=True).map(tuple)
numbers = st.floats(width=32)
records = st.builds(NoteRecord, text=words) | st.builds(
    CrashRecord, error=words, message=words, file=words, line=st.integers(0, 99), source=words
)
findings = st.builds(
    Finding,
    rule=words,
    severity=st.sampled_from(Severity),
    confidence=st.floats(0, 1),
    title=words,
    module=st.none() | words,
    step=st.none() | st.integers(0, 10**9),
    causes=st.lists(words, max_size=2).map(tuple),
)


@st.composite
def pieces(draw):
    """Draw what happens between two writes: records, rows of several metrics, and steps."""
    happened = []
    columns = {metric: draw(names) for metric in draw(st.lists(words, max_size=3, unique=True))}
    for _ in range(draw(st.integers(0, 6))):
        rows = {metric: draw(st.tuples(*[numbers] * len(each))) for metric, each in columns.items()}
        happened.append((draw(st.lists(records, max_size=2)), rows))
    return columns, happened


def go_on(run, piece, *, max_rows):
    columns, happened = piece
    for metric, subjects in columns.items():
        if not any((frame.metric, frame.subjects) == (metric, subjects) for frame in run.frames):
            run.frames.append(Frame(metric, subjects, max_rows=max_rows))
    for new, rows in happened:
        run.records.extend(new)
        for metric, values in rows.items():
            run.frame(metric, columns[metric]).append(run.steps, values)
        run.steps += 1


def told(run):
    """Return all that a run tells, with NaN equal to itself."""
    fields = [
        getattr(run, name) for name in ("id", "name", "source", "status", "clock", "steps", "records", "findings")
    ]
    kept = [frame for frame in run.frames if len(frame)]
    frames = {(frame.metric, frame.subjects): [frame.column(name) for name in frame.subjects] for frame in kept}
    ends = {(frame.metric, frame.subjects): (frame.greatest(), [*frame.last()[1]]) for frame in kept}
    return repr(fields), repr(frames), repr(ends)


@settings(max_examples=60, deadline=None)
@given(name=words, source=words, found=st.lists(findings, max_size=2), parts=st.lists(pieces(), max_size=4))
def test_a_run_written_in_any_pieces_comes_back_whole(name, source, found, parts):
    run = Run(name=name, source=source, settings={"level": "basic"})
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder) / "session.sqlite")
        with contextlib.closing(store):
            for piece in parts:
                go_on(run, piece, max_rows=None)
                store.write(run)
            run.status, run.findings = Status.OK, tuple(found)
            store.write(run)
            assert told(store.read(run.id)) == told(run)
    assert told(from_json(run.to_json())) == told(run)


@settings(max_examples=60, deadline=None)
@given(values=st.lists(numbers, min_size=1, max_size=80), max_rows=st.integers(1, 12), every=st.integers(1, 30))
def test_a_thinned_series_comes_back_with_its_ends_and_extremes(values, max_rows, every):
    run = Run()
    run.frames.append(Frame("loss", ("a", "b"), max_rows=max_rows))
    with tempfile.TemporaryDirectory() as folder, contextlib.closing(Store(Path(folder) / "session.sqlite")) as store:
        for step, value in enumerate(values):
            run.frames[0].append(step, (value, -value))
            if step % every == 0:
                store.write(run)
        store.write(run)
        back = store.read(run.id).frames[0]
    for subject, sign in (("a", 1.0), ("b", -1.0)):
        steps, kept = back.column(subject)
        assert steps == sorted(steps)
        assert (steps[0], steps[-1]) == (0, len(values) - 1)
        assert all(repr(kept[i]) == repr(sign * values[step]) for i, step in enumerate(steps))
    assert repr(back.greatest()) == repr(run.frames[0].greatest())
    assert repr([*back.last()[1]]) == repr([*run.frames[0].last()[1]])
