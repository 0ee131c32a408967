"""This file tests that what a run keeps stays small, however long it goes on and however many metrics it has."""

import sys

from torchmagic.records.series import FEW_COLUMNS, Frame, share_room
from torchmagic.session.parameters import METRICS
from torchmagic.session.recorder import Recorder
from torchmagic.session.run import Run

# twenty, and those of the parameter table if they are ever more
NUM_METRICS = max(20, len(METRICS))
NAMES = tuple(f"layer{i}.weight" for i in range(300))


def num_bytes(run):
    return sum(sys.getsizeof(frame._steps) + sys.getsizeof(frame._values) for frame in run.frames)


def test_ten_thousand_steps_of_twenty_metrics_of_three_hundred_parameters_stay_under_200_mb():
    run = Run()
    recorder = Recorder(run)
    row, spike = [1.0] * 300, [1.0] * 299 + [50.0]
    peak = 0
    for step in range(10_000):
        for metric in range(NUM_METRICS):
            recorder.append(f"metric {metric}", spike if step == 4_321 else row, NAMES)
        recorder.append("loss", (float(step),))
        recorder.count_step()
        if step % 500 == 0:
            peak = max(peak, num_bytes(run))
    assert max(peak, num_bytes(run)) < 200e6
    for metric in range(NUM_METRICS):
        points = dict(zip(*run.series(f"metric {metric}", parameter=NAMES[-1]), strict=True))
        assert {0, 4_321, 9_999} <= points.keys()
        assert points[4_321] == 50.0
        assert len(points) > 2_000
    assert len(run.series("loss")[0]) == 10_000


def test_a_very_wide_model_stays_under_200_mb_too():
    frames = [Frame(f"metric {metric}", tuple(map(str, range(10_000)))) for metric in range(NUM_METRICS)]
    share_room(frames)
    assert sum(frame.max_rows * len(frame.subjects) * 4 for frame in frames) < 200e6


def test_series_of_few_columns_are_left_alone():
    wide, narrow = Frame("grad_norm", NAMES), Frame("seconds", ("forward", "backward"))
    before = narrow.max_rows
    share_room([wide, narrow] * 40)
    assert len(narrow.subjects) <= FEW_COLUMNS
    assert narrow.max_rows == before
    assert wide.max_rows < 3_000


def test_a_frame_whose_share_shrank_becomes_smaller_and_keeps_its_extremes():
    frame = Frame("grad_norm", NAMES[:20])
    for step in range(1_000):
        frame.append(step, [float(step == 333)] * 20)
    frame.max_rows = 64
    for step in range(1_000, 1_100):
        frame.append(step, [0.0] * 20)
    steps, values = frame.column(NAMES[0])
    assert len(frame._steps) <= 64
    assert (steps[0], steps[-1], max(values)) == (0, 1_099, 1.0)
    assert steps[values.index(1.0)] == 333
