"""This file tests several processes that write to the store of one project at the same time."""

import json

from torchmagic.session.session import Session
from torchmagic.session.status import Status

WRITE = """
    import json, sys
    from torchmagic.records.note import NoteRecord
    from torchmagic.session.run import Run, Status
    from torchmagic.session.session import session

    print("ready", flush=True)
    sys.stdin.readline()
    numbers = []
    for number in range(12):
        run = Run(name=f"{sys.argv[1]} {number}")
        session.add(run)
        session.write(run)
        for step in range(40):
            run.records.append(NoteRecord(text=str(step)))
            run.frame("loss", ("loss",)).append(step, (float(step),))
            session.write(run, urgent=step % 10 == 0)
        run.status = Status.OK
        session.write(run, final=True)
        numbers.append(run.number)
    print(json.dumps([numbers, session.warnings]), flush=True)
"""


def test_kernels_that_write_at_once_get_numbers_of_their_own_and_lose_nothing(start, tmp_path):
    names = ("one", "two", "three")
    children = [start(WRITE, name) for name in names]
    for child in children:
        assert child.stdout.readline() == "ready\n"
    for child in children:
        child.stdin.write("go\n")
        child.stdin.flush()
    said = [json.loads(child.communicate(timeout=300)[0]) for child in children]
    assert [warnings for _, warnings in said] == [[], [], []]
    assert sorted(number for numbers, _ in said for number in numbers) == list(range(1, 37))
    session = Session(tmp_path)
    history = session.history()
    assert [entry.number for entry in history] == list(range(1, 37))
    assert {entry.name for entry in history} == {f"{name} {number}" for name in names for number in range(12)}
    for entry in history:
        run = session.get(entry.number)
        assert run.status is Status.OK
        assert [record.text for record in run.records] == [str(step) for step in range(40)]
        assert run.series("loss")[0] == list(range(40))


def test_a_run_kept_in_memory_gives_way_to_the_number_that_another_kernel_stored(start, tmp_path):
    from torchmagic.session.run import Run  # noqa: PLC0415 - the children import by themselves

    session = Session(tmp_path)
    mine = Run(name="mine")
    session.add(mine)
    assert [(entry.name, entry.number) for entry in session.history()] == [("mine", 1)]
    child = start(WRITE, "other")
    child.communicate("go\n", timeout=300)
    history = session.history()
    assert [entry.number for entry in history] == list(range(1, 14))
    assert history[-1].name == "mine"
    assert session.get(13) is mine
