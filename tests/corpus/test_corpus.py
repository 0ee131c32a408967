"""The labelled notebook cells that lie beside the checkout: what we know is caught, and nothing healthy is alarmed."""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

CORPUS = Path(__file__).parents[3] / "shared" / "corpus"
ONLY_INFO = {"no-grad-evaluation-missing"}  # worth knowing, never an alarm: the score asks an alarm to come first

pytestmark = [
    pytest.mark.corpus,
    pytest.mark.skipif(not (CORPUS / "score.py").exists(), reason="no labelled cells beside this checkout"),
]


def scored(folder, answer):
    command = [sys.executable, CORPUS / "score.py", CORPUS / folder, "--json", answer, "--timeout", "180"]
    subprocess.run(command, cwd=answer.parent, env={**os.environ, "OMP_NUM_THREADS": "1"}, timeout=1500, check=False)
    return json.loads(answer.read_text())


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    """Score the cells and their repaired twins, side by side."""
    pytest.importorskip("sklearn")
    folder = tmp_path_factory.mktemp("answers")
    with ThreadPoolExecutor() as pool:
        begun = {name: pool.submit(scored, name, folder / f"{name}.json") for name in ("open", "open-twins")}
        return {name: each.result() for name, each in begun.items()}


def test_every_bug_is_named_first_and_placed(rows):
    cells = rows["open"]
    assert [row["name"] for row in cells if row["broken"]] == []
    buggy = [row for row in cells if row["kind"] == "buggy"]
    assert [row["name"] for row in buggy if not row["caught"] or row["located"] is False or row["extra"]] == []
    assert [row["name"] for row in buggy if not row["first"] and set(row["expect"]) - ONLY_INFO] == []
    assert [row["name"] for row in cells if row["kind"] == "healthy" and row["extra"]] == []


def test_repaired_cells_are_silent(rows):
    assert [row["name"] for row in rows["open-twins"] if row["broken"] or row["extra"]] == []
