"""This file tests the launches: what ranks have written, each to its own file, read side by side."""

import os
import subprocess
import sys
from dataclasses import replace

import pytest

from torchmagic.records.rank_beats import BeatRecord
from torchmagic.records.ranks import LaunchRecord, RankRecord
from torchmagic.session.beats import lives, read_beats, write_beat
from torchmagic.session.launches import folder_of, is_launch, joined, read_launch, store_of
from torchmagic.session.ranked import Ranks, is_shown
from torchmagic.session.run import Run, Status
from torchmagic.session.session import Session

LAUNCH = "20260101-000000-abcdef"


def record_of(rank, sequence=0, size=3):
    return RankRecord(
        launch=LAUNCH,
        sequence=sequence,
        rank=rank,
        world_size=size,
        local_rank=rank,
        num_local=size,
        host="here",
        pid=1,
        backend="gloo",
        device="cpu",
        launcher="torchrun",
        wall=1.0,
        monotonic=2.0,
    )


def run_of(rank, sequence=0, name="training"):
    run = Run(name=name)
    run.records.append(record_of(rank, sequence))
    run.frame("loss", ("",)).append(0, (float(rank),))
    run.status = Status.OK
    return run


@pytest.fixture
def project(tmp_path):
    """A project in which the ranks 0 and 2 of three have each written two runs."""
    folder = folder_of(tmp_path, LAUNCH)
    for rank in (0, 2):
        session = Session(file=store_of(folder, rank))
        for sequence, name in enumerate(("first", "second")):
            session.write(run_of(rank, sequence, name), final=True)
        session.close()
    return tmp_path


def test_runs_of_one_number_belong_together_and_the_last_are_read_by_themselves(project):
    folder = folder_of(project, LAUNCH)
    assert is_launch(folder)
    ranks = read_launch(folder)
    assert {rank: run.name for rank, run in ranks.runs.items()} == {0: "second", 2: "second"}
    assert {run.name for run in read_launch(folder, sequence=0).runs.values()} == {"first"}
    assert (ranks.world_size, ranks.num_read, ranks.missing, ranks.lost) == (3, 2, (1,), ())
    assert ranks.launch == LAUNCH
    assert ranks.series("loss") == {0: ([0], [0.0]), 2: ([0], [2.0])}
    assert {rank: found[0].rank for rank, found in ranks.of(RankRecord).items()} == {0: 0, 2: 2}
    assert ranks.of(LaunchRecord) == {0: [], 2: []}


def test_a_run_that_is_here_is_not_read_again(project):
    own = run_of(0)
    ranks = read_launch(folder_of(project, LAUNCH), sequence=1, here={0: own})
    assert ranks.runs[0] is own
    assert ranks.runs[2] is ranks.runs[2]


def test_a_file_that_is_damaged_is_as_if_its_rank_had_left_none(project):
    folder = folder_of(project, LAUNCH)
    store_of(folder, 1).write_bytes(b"no store at all")
    assert read_launch(folder).missing == (1,)
    for rank in (0, 2):
        for path in folder.glob(f"{rank}.db*"):
            path.unlink()
    with pytest.raises(ValueError, match="holds no run of a rank"):
        read_launch(folder)


def test_runs_of_a_history_know_their_ranks_once_they_are_asked(project):
    rank, starter, ordinary = run_of(0, 1), Run(), Run()
    starter.records.append(LaunchRecord(launch=LAUNCH, num_processes=3, place=None))
    assert joined(rank, project).ranks.runs[0] is rank
    assert joined(rank, project).ranks.runs[2].name == "second"
    assert list(joined(starter, project).ranks.runs) == [0, 2]
    assert joined(ordinary, project).ranks is None
    gone = run_of(0)
    gone.records[0] = replace(gone.records[0], launch="another")
    assert joined(gone, project).ranks is None


def test_only_rank_0_is_shown_where_it_was_made():
    assert is_shown(Run())
    assert [is_shown(run_of(rank)) for rank in (0, 1, 2)] == [True, False, False]


def test_ranks_made_by_hand_join_a_run():
    run, other = run_of(0), run_of(1)
    run.join(Ranks({1: other, 0: run}, world_size=2))
    assert list(run.ranks.runs) == [0, 1]
    assert run.ranks.statuses == {0: Status.OK, 1: Status.OK}
    assert Run().ranks is None


def beat_of(rank, **more):
    told = {"host": os.uname().nodename, "pid": os.getpid(), "status": "running", "step": 3, "event": "backward"}
    return BeatRecord(**{"rank": rank, "inside": True, "seconds": 1.5, "place": None, "wall": 0.0, **told, **more})


def test_beats_are_replaced_in_one_stroke_and_what_cannot_be_read_is_left_out(tmp_path):
    for rank in (2, 0):
        write_beat(tmp_path, beat_of(rank))
    write_beat(tmp_path, beat_of(0, step=4))
    (tmp_path / "1.beat").write_text('{"kind": "BeatRec')
    beats = read_beats(tmp_path)
    assert {rank: beat.step for rank, beat in beats.items()} == {0: 4, 2: 3}
    assert 0 <= beats[0].age < 60
    assert {path.name for path in tmp_path.iterdir()} == {"0.beat", "1.beat", "2.beat"}
    write_beat(tmp_path / "gone", beat_of(0))  # a folder that is not there is let be


def test_a_process_that_is_gone_does_not_live_and_of_another_host_nobody_knows():
    process = subprocess.Popen([sys.executable, "-c", "pass"])
    assert lives(beat_of(0))
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert not lives(beat_of(0, pid=process.pid))  # its parent has not asked for its exit status yet
    process.wait()
    assert not lives(beat_of(0, pid=process.pid))
    assert lives(beat_of(0, pid=process.pid, host="elsewhere"))
