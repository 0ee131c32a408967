"""This file tests the writer: a thread that comes with the first open run, goes with the last, and never holds up."""

import json
import os
import subprocess
import sys
import textwrap
import threading
import time
from array import array

import pytest

from torchmagic.records.note import NoteRecord
from torchmagic.records.series import Frame
from torchmagic.session.run import Run, Status
from torchmagic.session.session import Session
from torchmagic.session.writer import Writer

NAME = "torchmagic-writer"


@pytest.fixture
def session(tmp_path):
    session = Session(tmp_path)
    yield session
    session.close()


@pytest.fixture
def later(tmp_path):
    later = Session(tmp_path)
    yield later
    later.close()


def threads():
    return [thread for thread in threading.enumerate() if thread.name == NAME]


def until(condition, *, seconds=60.0):
    """Wait for something that another thread does; return how long it took."""
    began = time.monotonic()
    while not condition() and time.monotonic() - began < seconds:
        time.sleep(0.005)
    assert condition()
    return time.monotonic() - began


def started(session, name=""):
    run = Run(name=name)
    session.add(run)
    session.write(run)
    until(lambda: run.number)
    return run


def end(session, run):
    run.status = Status.OK
    session.write(run, final=True)


def test_the_thread_comes_with_the_first_run_and_goes_with_the_last(session):
    assert threads() == []
    first, second = started(session), started(session)
    assert len(threads()) == 1
    end(session, first)
    assert len(threads()) == 1
    end(session, second)
    assert threads() == []
    third = started(session)
    assert len(threads()) == 1
    end(session, third)
    assert threads() == []
    assert session.warnings == []


def test_what_is_recorded_reaches_the_store_within_a_second_without_another_word(session, later):
    run = started(session)
    run.records.append(NoteRecord(text="hello"))
    assert until(lambda: later.get(run.id).records) < 1.0
    end(session, run)


def test_what_is_urgent_reaches_the_store_at_once(session, later):
    run = started(session)
    waited = []
    for number in range(5):
        run.records.append(NoteRecord(text=str(number)))
        session.write(run, urgent=True)
        waited.append(until(lambda: len(later.get(run.id).records) > number))  # noqa: B023 - asked before it changes
    assert min(waited) < 0.3
    assert sorted(waited)[2] < 0.5
    end(session, run)


def test_closing_the_session_in_the_middle_of_a_run_loses_nothing_of_it(session, later):
    run = started(session)
    run.records.append(NoteRecord(text="before"))
    session.close()
    assert threads() == []
    assert len(later.get(run.id).records) == 1
    run.records.append(NoteRecord(text="after"))
    session.write(run)
    assert len(threads()) == 1
    end(session, run)
    assert [record.text for record in later.get(run.id).records] == ["before", "after"]


def test_where_no_thread_can_be_had_the_run_is_written_all_the_same(session, later, monkeypatch):
    def refuse(thread):
        message = "can't start new thread"
        raise RuntimeError(message)

    monkeypatch.setattr(threading.Thread, "start", refuse)
    run = Run()
    for number in range(3):
        run.records.append(NoteRecord(text=str(number)))
        session.write(run)
    assert len(later.get(run.id).records) == 1
    session.write(run, urgent=True)
    assert len(later.get(run.id).records) == 3
    run.records.append(NoteRecord(text="last"))
    end(session, run)
    assert len(later.get(run.id).records) == 4


def test_what_fails_in_the_thread_ends_neither_the_run_nor_the_thread(session, later):
    class Odd:
        """No record at all."""

    bad, good = started(session, "bad"), started(session, "good")
    bad.records.append(Odd())
    session.write(bad, urgent=True)
    until(lambda: session.warnings)
    good.records.append(NoteRecord(text="still written"))
    end(session, good)
    end(session, bad)
    assert len(session.warnings) == 1
    assert "\n" not in session.warnings[0]
    assert len(later.get("good").records) == 1
    assert threads() == []


def test_rows_appended_while_others_are_written_arrive_whole(tmp_path, monkeypatch):
    interval = sys.getswitchinterval()
    session, run = Session(tmp_path), Run()
    narrow, wide, plain = Frame("a", ("x", "y"), max_rows=64), Frame("b", tuple("0123456789")), Frame("c", ("",))
    run.frames += [narrow, wide, plain]
    writes = []
    writer = Writer(lambda runs: (session._kept()._save_all(runs), writes.append(1)), session._kept()._settle)
    session._kept()._path = session.path
    monkeypatch.setattr(sys.modules[Writer.__module__], "SECONDS_BETWEEN_WRITES", 0.0)
    monkeypatch.setattr(sys.modules[Writer.__module__], "LEAST_SECONDS_BETWEEN", 0.0)
    sys.setswitchinterval(1e-6)
    try:
        writer.follow(run)
        for step in range(20_000):
            if step % 200 == 0:  # rows must not pile up faster than the disk takes them
                until(lambda: len(writes) >= step // 200)  # noqa: B023 - asked before it changes
            narrow.append(step, (step, -step))
            wide.append(step, [step + column for column in range(10)])
            plain.append(step, (step / 2,))
            run.records.append(NoteRecord(text=str(step)))
            run.steps += 1
        run.status = Status.OK
        writer.finish(run)
    finally:
        sys.setswitchinterval(interval)
    back = Session(tmp_path).get(run.id)
    session.close()
    assert session.warnings == []
    steps = list(range(run.steps))
    assert [int(record.text) for record in back.records] == steps
    assert back.frames[1].column("3") == (steps, [step + 3.0 for step in steps])
    assert back.frames[2].column() == (steps, [step / 2 for step in steps])
    thinned, values = back.frames[0].column("y")
    assert thinned == sorted(set(thinned))
    assert values == [-float(step) for step in thinned]
    assert (thinned[0], thinned[-1]) == (0, steps[-1])


def test_a_series_that_is_looked_at_while_it_grows_is_whole_and_goes_on_growing():
    frame, stop, seen = Frame("loss", ("a", "b"), max_rows=64), threading.Event(), []

    def look():
        while not stop.is_set():
            steps, values = frame.column("b")
            seen.append(values == [-float(step) for step in steps] and not frame.greatest()["b"] > 0.0)
            list(frame.rows())

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    thread = threading.Thread(target=look)
    thread.start()
    try:
        for step in range(20_000):
            frame.append(step, (step, -step))
    finally:
        stop.set()
        thread.join()
        sys.setswitchinterval(interval)
    assert len(frame) == 20_000
    assert len(seen) > 5
    assert all(seen)


def test_between_any_two_lines_of_an_append_a_series_is_whole_to_others():
    frame, torn = Frame("loss", ("",), max_rows=3), []

    def look(*_):
        steps, values, _ = frame.rows_since(0)
        if [float(step) for step in array("q", steps)] != [-value for value in array("d", values)]:
            torn.append(len(frame))
        return look

    def line_by_line(code, *_):
        return look if code.f_code.co_name in ("append", "_thin") else None

    tracing = sys.gettrace()
    sys.settrace(line_by_line)
    try:
        for step in range(40):
            frame.append(step, (-step,))
    finally:
        sys.settrace(tracing)
    assert frame.stride == 16
    assert torn == []


def in_a_process(code, folder):
    # from Python 3.12 on a fork beside threads warns, and all that is said is looked at
    command = [sys.executable, "-W", "ignore:This process:DeprecationWarning", "-c", textwrap.dedent(code)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=300, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


PREAMBLE = """
    import json, os, sys, time
    from torchmagic.records.note import NoteRecord
    from torchmagic.session.run import Run, Status
    from torchmagic.session.session import session
    run = Run(name="mine")
    session.add(run)
    session.write(run)
    run.records.append(NoteRecord(text="parent"))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing forks here")
def test_a_forked_child_writes_nothing_of_its_parents_run_and_may_write_its_own(tmp_path, later):
    said = in_a_process(
        PREAMBLE
        + """
    child = os.fork()
    if not child:
        for number in range(20):
            run.records.append(NoteRecord(text="child"))
            session.write(run, urgent=True)
        session.write(run, final=True)
        own = Run(name="the child's")
        session.add(own)
        own.status = Status.OK
        session.write(own, final=True)
        sys.exit(0)
    _, status = os.waitpid(child, 0)
    run.status = Status.OK
    session.write(run, final=True)
    print(json.dumps([status, session.warnings]))
    """,
        tmp_path,
    )
    assert said == [0, []]
    assert [record.text for record in later.get("mine").records] == ["parent"]
    assert later.get("the child's").status is Status.OK


def test_workers_of_a_loader_leave_the_run_alone(tmp_path, later):
    said = in_a_process(
        """
    import json, torch, torchmagic, warnings
    from torch import nn
    from torch.utils.data import DataLoader, TensorDataset
    net = nn.Linear(4, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.01)
    data = DataLoader(TensorDataset(torch.randn(64, 4)), batch_size=8, num_workers=2)
    with torchmagic.watch(name="loader") as run:
        for epoch in range(3):
            for (x,) in data:
                opt.zero_grad()
                net(x).pow(2).mean().backward()
                opt.step()
    print(json.dumps([run.steps, run.number, torchmagic.session.warnings]))
    """,
        tmp_path,
    )
    assert said == [24, 1, []]
    assert len(later.get("loader").series("loss")[0]) == 24


def test_a_process_that_ends_in_the_middle_of_a_run_has_written_all_of_it(tmp_path, later):
    began = time.monotonic()
    assert in_a_process(PREAMBLE + "    print(json.dumps(1))", tmp_path) == 1
    assert time.monotonic() - began < 20
    assert [record.text for record in later.get("mine").records] == ["parent"]
    assert later.get("mine").status is Status.LOST


def test_a_run_that_ends_while_the_interpreter_ends_is_written(tmp_path, later):
    code = """
    import atexit
    atexit.register(lambda: (setattr(run, "status", Status.OK), session.write(run, final=True)))
    print(json.dumps(1))
    """
    in_a_process(PREAMBLE + code, tmp_path)
    assert later.get("mine").status is Status.OK


def test_handing_a_run_over_costs_a_step_next_to_nothing(session):
    run = started(session)
    each = []
    for _ in range(20):
        began = time.perf_counter()
        for _ in range(500):
            session.write(run)
        each.append((time.perf_counter() - began) / 500)
    end(session, run)
    assert min(each) < 5e-6
