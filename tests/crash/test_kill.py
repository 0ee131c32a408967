"""This file tests that a process killed in the middle of a run leaves all of it but the last second."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from torchmagic.session.entries import mark_told, newest_lost
from torchmagic.session.session import Session
from torchmagic.session.status import Status

# Says with every step which one it is and when it ended; the last line may be cut off by the kill.
TRAIN = """
    import sys, time, torch, torchmagic
    from torch import nn

    net = nn.Linear(4, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.01)
    with torchmagic.watch(name="killed", level="basic"):
        for step in range(100_000):
            opt.zero_grad()
            net(torch.randn(8, 4)).pow(2).mean().backward()
            opt.step()
            print(step, time.time(), flush=True)
            time.sleep(float(sys.argv[1]))
"""
# One step that never ends, in which records arrive.
LONG_STEP = """
    import time
    from torchmagic.records.note import NoteRecord
    from torchmagic.session.recorder import Recorder
    from torchmagic.session.run import Run
    from torchmagic.session.session import session

    run = Run(name="long step")
    recorder = Recorder(run)
    session.add(run)
    session.write(run)
    for number in range(100_000):
        recorder.add(NoteRecord(text=str(number)))
        recorder.append("memory", (float(number),))
        print(number, time.time(), flush=True)
        time.sleep(0.01)
"""


def lines_until_killed(child, seconds):
    """Read what a process says, kill it after some time, and return (number, time) of all that it said."""
    said = [child.stdout.readline()]
    deadline = time.time() + seconds
    while time.time() < deadline:
        said.append(child.stdout.readline())
    killed = time.time()
    os.kill(child.pid, signal.SIGKILL)
    said += child.stdout.read().splitlines()
    assert child.wait() == -signal.SIGKILL
    pairs = [line.split() for line in said if line.count(" ") == 1]
    return [(int(number), float(at)) for number, at in pairs], killed


@pytest.mark.parametrize("seconds", [0.5, 2.3, 4.0])
def test_a_killed_training_loses_at_most_the_last_second(start, tmp_path, seconds):
    said, killed = lines_until_killed(start(TRAIN, 0.002), seconds)
    session = Session(tmp_path)
    entry = session.lost()
    assert (entry.status, entry.name, entry.here, entry.saved) == (Status.LOST, "killed", False, True)
    run = session.get(entry.number)
    assert run.status is Status.LOST
    steps, values = run.series("loss")
    wanted = [number for number, at in said if at < killed - 1.0]
    assert steps[: len(wanted)] == wanted
    assert len(values) == len(steps) >= len(wanted)
    assert run.steps >= len(wanted)
    assert entry.seconds > seconds - 1.5


def test_a_step_that_lasts_long_is_written_while_it_goes_on(start, tmp_path):
    said, killed = lines_until_killed(start(LONG_STEP), 3.0)
    session = Session(tmp_path)
    run = session.get("last")
    assert (run.status, run.steps) == (Status.LOST, 0)
    wanted = [number for number, at in said if at < killed - 1.0]
    assert [int(record.text) for record in run.records][: len(wanted)] == wanted
    assert run.series("memory")[1][: len(wanted)] == wanted
    assert run.clock.seconds > 1.5


def test_the_next_process_is_told_once_and_the_run_stays_lost(start, tmp_path):
    lines_until_killed(start(TRAIN, 0.002), 0.5)
    lost = newest_lost(tmp_path)
    assert lost.status is Status.LOST
    mark_told(tmp_path, lost.number)
    assert newest_lost(tmp_path) is None
    assert [entry.status for entry in Session(tmp_path).history()] == [Status.LOST]


def test_a_run_that_goes_on_in_another_process_is_not_lost(start, tmp_path):
    child = start(TRAIN, 0.002)
    child.stdout.readline()
    deadline = time.time() + 30
    session = Session(tmp_path)
    while not session.history() and time.time() < deadline:
        child.stdout.readline()
    assert session.lost() is None
    assert [entry.status for entry in session.history()] == [Status.RUNNING]
    assert session.get(1).status is Status.RUNNING


def test_asking_for_lost_runs_loads_sqlite_and_nothing_heavier(start, tmp_path):
    lines_until_killed(start(TRAIN, 0.002), 0.5)
    code = """
import json, sys
from pathlib import Path
from torchmagic.session.entries import newest_lost
found = newest_lost(Path.cwd())
print(json.dumps([found.number, [name for name in ("numpy", "torch", "IPython", "asyncio") if name in sys.modules]]))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert json.loads(done.stdout) == [1, []]
