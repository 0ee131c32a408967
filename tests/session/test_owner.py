"""This file tests the owner of a run: a process that lives, one that has died, and one that only looks the same."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from torchmagic.session import owner

ON_LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc tells when a process began")


def other(code="input()"):
    return subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def as_other(pid, **changed):
    """Return what another process would have said of itself."""
    known = json.loads(owner.this_process())
    return json.dumps({**known, "pid": pid, "began": owner._beginning(pid), **changed})


def test_this_process_lives(tmp_path):
    assert owner.lives(owner.this_process(), tmp_path, 1)


@ON_LINUX
def test_another_process_lives_until_it_has_died_even_before_its_parent_asked_for_it(tmp_path):
    with other() as child:
        said = as_other(child.pid)
        assert owner.lives(said, tmp_path, 1)
        child.kill()
        deadline = time.monotonic() + 60
        while owner.lives(said, tmp_path, 1) and time.monotonic() < deadline:
            time.sleep(0.01)
        assert not owner.lives(said, tmp_path, 1)
        assert child.returncode is None


@ON_LINUX
def test_a_process_that_got_the_id_of_a_dead_one_is_not_taken_for_it(tmp_path):
    known = json.loads(owner.this_process())
    assert not owner.lives(json.dumps({**known, "began": known["began"] - 1}), tmp_path, 1)


HOLD = """
import sys
from pathlib import Path
from torchmagic.session import owner
owner.hold(Path(sys.argv[1]), 7)
print("held", flush=True)
input()
"""


@pytest.mark.parametrize("changed", [{"machine": "another"}, {"began": None}])
def test_where_ids_do_not_tell_the_lock_does(tmp_path, changed):
    arguments = [sys.executable, "-c", HOLD, str(tmp_path)]
    with subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout.readline() == "held\n"
        said = as_other(child.pid, **changed)
        assert owner.lives(said, tmp_path, 7)
        assert not owner.lives(said, tmp_path, 8)
        child.kill()
        child.wait()
        assert not owner.lives(said, tmp_path, 7)


@pytest.mark.parametrize("said", ["", "{", "[]", '"x"', '{"pid": "x"}'])
def test_an_owner_that_says_nothing_has_died(tmp_path, said):
    assert not owner.lives(said, tmp_path, 1)


def num_open_files():
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


@ON_LINUX
def test_a_lock_that_was_given_back_is_free_and_no_file_stays_open(tmp_path):
    before = num_open_files()
    owner.hold(tmp_path, 3)
    owner.hold(tmp_path, 3)
    assert owner._locks_in(tmp_path).is_held(3)
    owner.release(tmp_path, 3)
    owner.release(tmp_path, 3)
    assert not owner._locks_in(tmp_path).is_held(3)
    assert num_open_files() == before
