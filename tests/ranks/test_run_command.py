"""This file tests ``python -m torchmagic run`` under torchrun: each rank is watched, and one of them tells of all."""

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree as ET

import pytest

import torchmagic
from torchmagic.__main__ import main

pytestmark = pytest.mark.ranks
HERE = Path(__file__).parent
FILES = ("--sarif", "o.sarif", "--junit", "o.xml", "--json", "o.json", "--report", "o.html")


@pytest.fixture(scope="module")
def launched(tmp_path_factory):
    """Return what launches the training with something wrong, and reads what came of it."""

    def launch(*words):
        folder = tmp_path_factory.mktemp("launched")
        torchrun = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2")
        watched = ("-m", "torchmagic", "run", "--fail-on", "error", *FILES, str(HERE / "unwatched.py"))
        hidden = ("PYTEST", "COV", "RANK", "WORLD")
        own = {name: value for name, value in os.environ.items() if not name.startswith(hidden)}
        own |= {"OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo", "PYTHONPATH": str(HERE.parents[1])}
        done = subprocess.run(
            [sys.executable, *torchrun, *watched, *words],
            capture_output=True,
            text=True,
            check=False,
            cwd=folder,
            timeout=400,
            env=own,
        )
        (results,) = (run["results"] for run in json.loads((folder / "o.sarif").read_text())["runs"])
        return SimpleNamespace(folder=folder, done=done, said=done.stdout + done.stderr, results=results)

    return launch


def test_what_all_ranks_have_in_common_is_told_once_and_fails_the_launch(launched):
    made = launched("same")
    assert made.done.returncode == 1, made.said  # torchrun's own, for any rank that fails
    assert "exitcode  : 3" in made.said
    assert made.said.count("ERROR  loader gives ranks 0 and 1 the same batches") == 1
    assert made.said.count("unwatched.py · ok · ") == 1
    assert made.said.count("failed by 1 finding") == 1
    (result,) = made.results
    assert result["ruleId"] == "same-data-on-ranks"
    assert result["locations"][0]["physicalLocation"]["region"]["startLine"] == 18
    suite = ET.parse(made.folder / "o.xml").getroot()  # noqa: S314 - ours
    assert (suite.get("failures"), suite.get("errors")) == ("1", "0")
    assert "2 ranks on 1 host over gloo" in (made.folder / "o.html").read_text()
    (folder,) = (made.folder / ".torchmagic" / "ranks").iterdir()
    assert list(torchmagic.load(folder).ranks.runs) == [0, 1]


def test_one_rank_that_fails_is_named_by_the_other_though_the_launcher_ends_it(launched):
    made = launched("fails", "1")
    assert made.done.returncode == 1
    assert made.said.count("unwatched.py · error · ") == 1
    assert [result["ruleId"] for result in made.results] == ["failed-rank", "shape-mismatch"]
    first, second = (result["message"]["text"] for result in made.results)
    assert first.startswith(
        "rank 1 failed with RuntimeError: mat1 and mat2 shapes cannot be multiplied (16x7 and 20x16)"
    )
    assert second.startswith("rank 1: model.module.0 (Linear) expects 20 features and got 7")
    assert json.loads((made.folder / "o.json").read_text())["status"] == "error"


def test_an_exception_of_all_ranks_is_told_once(launched):
    made = launched("fails", "all")
    assert made.done.returncode == 1
    assert made.said.count("unwatched.py · error · ") == 1
    assert made.said.count("ERROR  model.module.0 (Linear) expects 20 features and got 7") == 1
    assert len(made.results) == 1, made.results
    assert made.results[0]["message"]["text"].startswith("model.module.0 (Linear) expects 20 features and got 7")


@pytest.mark.parametrize("words", [["-m", "torch.distributed.run", "train.py"], ["/usr/bin/torchrun", "train.py"]])
def test_a_launcher_has_nothing_to_watch_and_says_what_has(words, capsys):
    assert main(["run", *words]) == 2
    told = capsys.readouterr().err
    assert "let it start the watched program: torchrun --nproc-per-node 2 -m torchmagic run train.py" in told
    assert told.count("\n") == 1
