"""Ranks are launched as people launch them: by torchrun, from a cell by accelerate and by torch, on engines."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import torchmagic
from torchmagic.records.ranks import Checked, ChecksumRecord, LaunchRecord, RankRecord
from torchmagic.session.session import Session

pytestmark = pytest.mark.ranks
HERE = Path(__file__).parent
FOUR = 4


def ran(folder, *command):
    """Run a process in a folder; return what it said, and what it wrote."""
    own = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "COV", "RANK", "WORLD"))}
    own |= {"OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}
    done = subprocess.run(
        [sys.executable, *command], capture_output=True, text=True, check=False, cwd=folder, timeout=400, env=own
    )
    assert done.returncode == 0, done.stdout + done.stderr
    lines = [line for line in done.stdout.splitlines() if line.startswith("SAID ")]
    return [json.loads(line.removeprefix("SAID ")) for line in lines], done.stdout + done.stderr


def test_four_ranks_of_torchrun_are_one_launch(tmp_path):
    torchrun = ("-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={FOUR}")
    said, printed = ran(tmp_path, *torchrun, str(HERE / "training.py"), "healthy", "gathered")
    assert [each["same"] for each in said] == [True] * FOUR
    assert sorted((str(each["gathered"]) for each in said), key=len)[:3] == ["None"] * 3
    assert "torchmagic" not in printed  # a script's output is its own

    (folder,) = (tmp_path / ".torchmagic" / "ranks").iterdir()
    run = torchmagic.load(folder)
    ranks = run.ranks
    assert list(ranks.runs) == [0, 1, 2, 3]
    assert (ranks.world_size, ranks.missing, ranks.lost) == (FOUR, (), ())
    assert {found[0].launcher for found in ranks.of(RankRecord).values()} == {"torchrun"}
    weights = [
        {each.step: each.whole for each in found if each.what is Checked.WEIGHT and not each.last}
        for found in ranks.of(ChecksumRecord).values()
    ]
    assert weights[0] == weights[1] == weights[2] == weights[3]

    history = Session(tmp_path).history()  # the project's own history has one line, which stands for all four
    assert [(each.name, each.status.value) for each in history] == [("healthy", "ok")]
    again = Session(tmp_path).get(1)
    assert again.ranks is not None
    assert again.ranks.runs[3].steps == again.steps == run.steps
    assert again.ranks.runs[0] is again


def test_cells_that_launch_ranks_show_them(tmp_path):
    pytest.importorskip("accelerate", reason="pip install torchmagic[wild]")
    (said,), printed = ran(tmp_path, str(HERE / "launching.py"))
    for name in ("forked", "spawned"):
        assert said[name]["error"] == "None", printed
        assert said[name]["steps"] == {"0": 3, "1": 3}
        assert said[name]["names"] == [name, name]
    assert [said[name]["runs"] for name in ("forked", "spawned")] == [1, 2]
    history = Session(tmp_path).history()
    assert [each.name for each in history] == ["forked", "spawned"]
    for entry in history:
        run = Session(tmp_path).get(entry.number)
        (record,) = run.of(LaunchRecord)
        assert (record.num_processes, run.ranks.launch) == (2, record.launch)
        assert {found[0].launcher for found in run.ranks.of(RankRecord).values()} == {"processes"}


def test_cells_on_engines_are_ranks_and_the_first_one_shows_all(tmp_path):
    pytest.importorskip("ipyparallel", reason="pip install ipyparallel")
    (said,), _ = ran(tmp_path, str(HERE / "engines.py"))
    assert said["printed"].count("on-engines") == 1
    assert "[stdout:0]" in said["printed"]
    assert "[stdout:1]" not in said["printed"]
    assert said["answers"] == [{"0": 3, "1": 3}, None]
    assert said["launchers"] == [["ipyparallel"], ["ipyparallel"]]
