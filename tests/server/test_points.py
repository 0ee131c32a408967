"""Long series are thinned evenly, and what matters in them stays."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from torchmagic.records.series import Frame
from torchmagic.server.missing import MissingError
from torchmagic.server.points import points_of, thinned
from torchmagic.session.run import Run

VALUES = st.lists(st.floats(width=32), min_size=1, max_size=300)


@given(values=VALUES, most=st.integers(5, 60))
def test_ends_extremes_and_the_first_break_are_never_thinned_away(values, most):
    points = np.arange(len(values), dtype=np.int64), np.asarray(values)
    steps, kept = thinned(points, most)
    assert len(steps) <= most
    assert (steps[0], steps[-1]) == (0, len(values) - 1)
    assert (np.diff(steps) > 0).all()
    assert kept.tobytes() == points[1][steps].tobytes()
    finite = [value for value in values if math.isfinite(value)]
    if finite:
        assert {min(finite), max(finite)} <= set(kept.tolist())
    broken = [step for step, value in enumerate(values) if not math.isfinite(value)]
    if broken:
        assert broken[0] in steps


def test_points_lie_evenly():
    steps, _ = thinned((np.arange(100_000), np.linspace(0, 1, 100_000)), 101)
    gaps = np.diff(steps)
    assert 90 <= len(steps) <= 101
    assert gaps.max() - gaps.min() <= 1


def run_with(*frames):
    run = Run()
    run.frames.extend(frames)
    return run


def test_of_a_series_that_the_run_has_thinned_the_extremes_are_told():
    frame = Frame("loss", ("",), max_rows=16)
    for step in range(1000):
        frame.append(step, (1e9 if step == 333 else -1e9 if step == 777 else float(step),))
    steps, values = points_of(run_with(frame), "loss", "")
    told = dict(zip(steps.tolist(), values.tolist(), strict=True))
    assert (told[333], told[777]) == (1e9, -1e9)
    assert 999 in told
    assert (steps.tolist(), values.tolist()) == frame.column("")


def test_columns_of_several_frames_are_joined_in_order_of_step():
    first, second = Frame("grad_norm", ("a", "b")), Frame("grad_norm", ("b", "c"))
    first.append(0, (1, 2))
    second.append(1, (3, 4))
    first.append(2, (5, 6))
    steps, values = points_of(run_with(first, second), "grad_norm", "b")
    assert (steps.tolist(), values.tolist()) == ([0, 1, 2], [2, 3, 6])


def test_the_only_subject_need_not_be_named():
    frame = Frame("eval_loss", ("val",))
    frame.append(3, (0.5,))
    steps, values = points_of(run_with(frame), "eval_loss", "")
    assert (steps.tolist(), values.tolist()) == ([3], [0.5])


def test_an_empty_series_is_empty():
    steps, values = points_of(run_with(Frame("loss", ("",))), "loss", "")
    assert (steps.tolist(), values.tolist()) == ([], [])


def test_a_long_list_of_names_is_cut():
    run = run_with(*(Frame(f"metric_{number}", ("",)) for number in range(50)))
    with pytest.raises(MissingError) as told:
        points_of(run, "zzz", "")
    assert str(told.value).endswith("metric_9, …")
