"""A profile agrees with pyinstrument, which samples the very same run, on what each line and each function takes."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import torchmagic
from torchmagic.records.costs import CostsRecord
from torchmagic.records.note import FailureRecord
from torchmagic.records.profile import PhasesRecord, ProfileRecord

pytest.importorskip("pyinstrument")

PROGRAM = str(Path(__file__).with_name("slow_spots.py"))
# Of what pyinstrument says, and, as it looks once a millisecond, some looks more (s).
TOLERANCE, LOOKS = 0.1, 0.05
# Lines below this are too few looks to be compared (s).
LEAST = 0.1


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """Both say what one run took: our profile, and the seconds of each line and of each function by pyinstrument."""
    folder = tmp_path_factory.mktemp("both")
    done = subprocess.run(
        [sys.executable, PROGRAM, folder], capture_output=True, text=True, check=False, cwd=folder, timeout=300
    )
    assert done.returncode == 0, done.stderr
    run = torchmagic.load(folder / "run.jsonl")
    assert not run.of(FailureRecord)
    theirs = json.loads((folder / "sampled.json").read_text(encoding="utf-8"))
    return run, dict(theirs["lines"]), theirs["functions"]


def agrees(seconds):
    return pytest.approx(seconds, rel=TOLERANCE, abs=LOOKS)


def test_each_line_takes_what_pyinstrument_says(both):
    run, theirs, _ = both
    ours = {line.place.line: line for line in run.of(CostsRecord)[0].lines if line.place.file == PROGRAM}
    compared = [number for number, seconds in theirs.items() if seconds >= LEAST and number in ours]
    assert {ours[number].place.source for number in compared} >= {
        "time.sleep(0.015)",
        "time.sleep(0.04)",
        "prepare()",
        "for rows, targets in DataLoader(Rows(), batch_size=4):",
        "loss = nn.functional.cross_entropy(net(rows), targets)",
        "loss.backward()",
    }
    for number in compared:
        # A loop's own line is, by pyinstrument, at work while the next item is made, and not in the loop's body.
        if not ours[number].place.source.startswith("for "):
            assert ours[number].total == agrees(theirs[number]), ours[number].place.source


def test_each_function_takes_what_pyinstrument_says(both):
    run, _, theirs = both
    own = {}
    for line in run.of(CostsRecord)[0].lines:
        if line.place.file == PROGRAM:
            own[line.place.function] = own.get(line.place.function, 0.0) + line.own
    assert own["__getitem__"] == agrees(theirs["__getitem__"])
    assert own["prepare"] == agrees(theirs["prepare"])
    assert own["forward"] == agrees(theirs["forward"])
    assert own["train"] == agrees(
        theirs["train"] - sum(theirs[each] for each in ("__getitem__", "prepare", "forward", "backward"))
    )


def test_each_phase_takes_what_pyinstrument_says(both):
    run, lines, theirs = both
    (phases,), (window,) = run.of(PhasesRecord), run.of(ProfileRecord)
    waiting = next(each for each in run.of(CostsRecord)[0].lines if each.place.source.startswith("for rows"))
    assert theirs["__getitem__"] - LOOKS <= sum(phases.data) <= lines[waiting.place.line] * (1 + TOLERANCE) + LOOKS
    assert sum(phases.forward) == agrees(theirs["forward"])
    assert sum(phases.backward) == agrees(theirs["backward"])
    assert window.seconds == agrees(theirs["train"])
