"""The labelled notebook cells that lie beside the checkout: what we know is caught, and nothing healthy is alarmed."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

CORPUS = Path(__file__).parents[3] / "shared" / "corpus"
ONLY_INFO = {"no-grad-evaluation-missing"}  # worth knowing, never an alarm: the score asks an alarm to come first

pytestmark = [
    pytest.mark.corpus,
    pytest.mark.skipif(not (CORPUS / "score.py").exists(), reason="no labelled cells beside this checkout"),
]


def scored(folder, tmp_path):
    pytest.importorskip("sklearn")
    answer = tmp_path / "answer.json"
    command = [sys.executable, CORPUS / "score.py", CORPUS / folder, "--json", answer, "--timeout", "180"]
    subprocess.run(command, cwd=tmp_path, env={**os.environ, "OMP_NUM_THREADS": "1"}, timeout=1500, check=False)
    return json.loads(answer.read_text())


def test_every_bug_is_named_first_and_placed(tmp_path):
    rows = scored("open", tmp_path)
    assert [row["name"] for row in rows if row["broken"]] == []
    buggy = [row for row in rows if row["kind"] == "buggy"]
    assert [row["name"] for row in buggy if not row["caught"] or row["located"] is False or row["extra"]] == []
    assert [row["name"] for row in buggy if not row["first"] and set(row["expect"]) - ONLY_INFO] == []
    assert [row["name"] for row in rows if row["kind"] == "healthy" and row["extra"]] == []


def test_repaired_cells_are_silent(tmp_path):
    rows = scored("open-twins", tmp_path)
    assert [row["name"] for row in rows if row["broken"] or row["extra"]] == []
