"""The labelled notebook cells that lie beside the checkout: what we know is caught, and nothing healthy is alarmed."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import scoring

CORPUS = Path(__file__).parents[3] / "shared" / "corpus"
ONLY_INFO = {"no-grad-evaluation-missing"}  # worth knowing, never an alarm: the score asks an alarm to come first
SECONDS = 180

pytestmark = [
    pytest.mark.corpus,
    pytest.mark.skipif(not (CORPUS / "score.py").exists(), reason="no labelled cells beside this checkout"),
]


@pytest.fixture(scope="module")
def judge():
    """Give the corpus' own script, which reads the cells and judges what was found."""
    spec = importlib.util.spec_from_file_location("score_of_corpus", CORPUS / "score.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return script


@pytest.fixture(scope="module")
def rows(judge):
    """Score the cells and their repaired twins, each in a process that is forked off one with torch loaded."""
    pytest.importorskip("sklearn")
    found = {}
    for folder in ("open", "open-twins"):
        cases = [judge.read_case(path) for path in sorted((CORPUS / folder).rglob("*.py"))]
        outs = scoring.watched([(case["setup"], case["cell"]) for case in cases], seconds=SECONDS)
        found[folder] = [
            {"name": case["name"], "kind": case["kind"], "expect": case["expect"] + case["expect_all"]}
            | judge.judge(case, out)
            for case, out in zip(cases, outs, strict=True)
        ]
    return found


def test_every_bug_is_named_first_and_placed(rows):
    cells = rows["open"]
    assert [row["name"] for row in cells if row["broken"]] == []
    buggy = [row for row in cells if row["kind"] == "buggy"]
    assert [row["name"] for row in buggy if not row["caught"] or row["located"] is False or row["extra"]] == []
    assert [row["name"] for row in buggy if not row["first"] and set(row["expect"]) - ONLY_INFO] == []
    assert [row["name"] for row in cells if row["kind"] == "healthy" and row["extra"]] == []


def test_repaired_cells_are_silent(rows):
    assert [row["name"] for row in rows["open-twins"] if row["broken"] or row["extra"]] == []


def test_the_script_itself_says_the_same_of_a_cell(rows, tmp_path):
    row, answer = next(row for row in rows["open"] if row["kind"] == "buggy"), tmp_path / "answer.json"
    command = [sys.executable, CORPUS / "score.py", CORPUS / "open", "--only", row["name"], "--json", answer]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    subprocess.run([*command, "--timeout", str(SECONDS)], cwd=tmp_path, env=environment, timeout=600, check=False)
    said = next(each for each in json.loads(answer.read_text()) if each["name"] == row["name"])
    assert {key: said[key] for key in row} == row
