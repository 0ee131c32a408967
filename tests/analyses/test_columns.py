"""This file tests the columns of a run: latest, greatest and course of each subject."""

import math

from torchmagic.analyses.columns import courses, is_wide
from torchmagic.session.ends import greatest, latest
from torchmagic.session.run import Run


def made(*rows, subjects=("a", "b")):
    run = Run()
    for step, row in enumerate(rows):
        run.frame("m", subjects).append(step, row)
    return run


def test_the_latest_value_is_that_of_the_newest_row_of_any_frame():
    run = made((1.0, 2.0), (3.0, 4.0))
    run.frame("m", ("b", "c")).append(9, (5.0, 6.0))
    assert latest(run, "m") == {"a": 3.0, "b": 5.0, "c": 6.0}


def test_the_greatest_value_leaves_out_those_that_have_none():
    assert greatest(made((1.0, math.nan), (0.0, math.nan)), "m") == {"a": 1.0}
    assert greatest(Run(), "m") == {}


def test_a_short_course_is_as_it_was():
    assert courses(made((1.0, 2.0), (3.0, 4.0)), "m") == {"a": [1.0, 3.0], "b": [2.0, 4.0]}


def test_a_long_course_keeps_every_peak_and_every_value_that_is_not_finite():
    rows = [(100.0 if step == 37 else 1.0, math.nan if step == 80 else 1.0) for step in range(100)]
    found = courses(made(*rows), "m", width=10)
    assert len(found["a"]) == len(found["b"]) == 10
    assert found["a"][3] == 100.0
    assert [i for i, value in enumerate(found["b"]) if math.isnan(value)] == [8]


def test_a_subject_in_two_frames_has_one_course_in_order_of_step():
    run = made((1.0, 1.0))
    run.frame("m", ("b",)).append(1, (2.0,))
    run.frame("m", ("a", "b")).append(2, (3.0, 3.0))
    assert courses(run, "m")["b"] == [1.0, 2.0, 3.0]


def test_values_are_wide_only_when_all_are_above_zero_and_far_apart():
    assert is_wide([1.0, 1000.0, math.inf])
    assert not is_wide([1.0, 10.0])
    assert not is_wide([0.0, 1000.0])
    assert not is_wide([])
