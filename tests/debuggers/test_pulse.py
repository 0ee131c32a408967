"""This file tests the pulse of a rank: what is said of a silence, and that it ends with the run."""

import threading

from torchmagic.debuggers.pulse import Pulse, hang_said
from torchmagic.probes.rank_progress import Progress
from torchmagic.records.place import Place
from torchmagic.records.rank_beats import BeatRecord, HangRecord
from torchmagic.records.ranks import RankRecord
from torchmagic.session.beats import read_beats

SAID = """\
torchmagic: nothing has happened for 61 s; what the 3 ranks did last:
  rank 0 (elsewhere, pid 7): step 1,200, in backward for 61 s
  rank 1: has told nothing
  rank 2 (elsewhere, pid 9): step 1,200, after step done for 62 s, train.py:40  evaluate(model)
"""


def beat(rank, pid, event, place=None, **more):
    told = {"host": "elsewhere", "status": "running", "step": 1200, "seconds": 61.2, "wall": 0.0}
    return BeatRecord(**{**told, "rank": rank, "pid": pid, "event": event, "place": place, "inside": True, **more})


def test_what_is_said_of_a_silence_names_every_rank_what_it_did_and_where():
    late = beat(2, 9, "step done", Place(file="train.py", line=40, source="evaluate(model)"), inside=False, age=1.0)
    record = HangRecord(step=1200, seconds=61.2, over=False, beats=(beat(0, 7, "backward"), late))
    assert hang_said(record, 3) == SAID


def test_a_silence_is_told_once_and_so_is_its_end_and_the_thread_goes_with_the_run(tmp_path, capsys):
    told, came = [], threading.Event()

    def tell(record):
        told.append(record)
        came.set()

    numbers = {"rank": 0, "world_size": 1, "local_rank": 0, "num_local": 1, "sequence": 0, "pid": 1}
    names = {"launch": "l", "host": "h", "backend": "gloo", "device": "cpu", "launcher": "", "wall": 0, "monotonic": 0}
    progress = Progress()
    pulse = Pulse(RankRecord(**numbers, **names), tmp_path, progress, hang_after=0.2, tell=tell)
    pulse.start()
    assert came.wait(60)
    assert read_beats(tmp_path)[0].status == "running"
    progress.flush(0)
    pulse.stop()
    pulse.beat("error", ValueError("two\nlines"))
    pulse.beat("error")
    assert [each.over for each in told] == [False, True]
    assert told[0].seconds > 0.2
    assert read_beats(tmp_path)[0].error == "ValueError: two lines"
    assert not [each for each in threading.enumerate() if each.name == "torchmagic-pulse"]
    assert capsys.readouterr().err.count("nothing has happened") == 1
