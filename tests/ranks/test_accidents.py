"""A rank is killed in the middle of a step, or falls silent: the others' records are whole, and it is named."""

import signal
from pathlib import Path

import pytest

import torchmagic
from torchmagic.records.loss import BackwardRecord
from torchmagic.records.note import CrashRecord
from torchmagic.records.rank_beats import HangRecord
from torchmagic.records.ranks import ChecksumRecord
from torchmagic.session.launches import read_launch
from torchmagic.session.run import Status

pytestmark = pytest.mark.ranks
SCRIPT = Path(__file__).with_name("accident.py")
AT = 12


def folder_in(project):
    (found,) = (project / ".torchmagic" / "ranks").iterdir()
    return found


def test_a_killed_rank_is_named_and_all_records_are_whole(launch, tmp_path):
    done = launch(tmp_path, SCRIPT, "killed").wait()
    assert done.codes[1] == -signal.SIGKILL
    assert done.codes[0] == 1
    assert "peer" in done.errors[0].splitlines()[-1]  # gloo's own words, for the user, unchanged

    run = torchmagic.load(folder_in(tmp_path))
    ranks = run.ranks
    assert (ranks.lost, ranks.missing) == ((1,), ())
    assert ranks.statuses == {0: Status.ERROR, 1: Status.LOST}
    assert ranks.runs[0] is run
    assert run.steps == AT
    assert len(run.series("loss")[0]) == AT + 1
    assert len(run.of(BackwardRecord)) == 1
    assert "peer" in run.of(CrashRecord)[0].message
    # who died is still "running" in its last words; whom it took along has said so
    assert ranks.beats[1].status == "running"
    assert (ranks.beats[0].status, ranks.beats[0].error.partition(":")[0]) == ("error", "RuntimeError")

    killed = ranks.runs[1]
    assert AT - 9 <= killed.steps <= AT  # the disk is at most a second behind, and it waited 0.1 s before each step
    assert len(killed.series("loss")[0]) >= killed.steps
    equal = [
        (mine.step, mine.whole) == (theirs.step, theirs.whole)
        for mine, theirs in zip(*ranks.of(ChecksumRecord).values(), strict=False)
    ]
    assert len(equal) > 4
    assert all(equal)


def test_a_silence_is_told_while_it_lasts_with_what_every_rank_did_last(launch, tmp_path):
    done = launch(tmp_path, SCRIPT, "silent").wait()
    assert done.codes == [0, 0], done.errors
    told = "".join(done.errors)
    assert told.count("nothing has happened") == 1  # by one rank for all
    assert "2 ranks did last" in told
    assert "time.sleep(2.5)  # the silence" in told

    ranks = read_launch(folder_in(tmp_path))
    assert ranks.statuses == {0: Status.OK, 1: Status.OK}
    silence, end = ranks.of(HangRecord)[0]
    assert (silence.over, end.over) == (False, True)
    assert silence.step == end.step - 1 == AT or silence.step == AT
    assert 0.8 < silence.seconds < 2.5
    waiting, sleeping = silence.beats
    assert (waiting.rank, waiting.event, waiting.inside) == (0, "backward", True)
    assert (sleeping.rank, sleeping.event, sleeping.inside) == (1, "step done", False)
    assert sleeping.place is not None
    assert sleeping.place.source.startswith("time.sleep(2.5)")
    assert ranks.runs[0].steps == ranks.runs[1].steps == AT + 2
