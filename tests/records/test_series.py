"""This file tests the columnar series: what is kept when rows are appended without end."""

import math
import sys
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torchmagic.records.series import Frame

NAN, INF = math.nan, math.inf
numbers = st.floats(width=32) | st.sampled_from([NAN, INF, -INF])


def filled(values, *, max_rows=None):
    frame = Frame("loss", ("",), max_rows=max_rows)
    for step, value in enumerate(values):
        frame.append(step, (value,))
    return frame


def save(frame, copy, seen=0):
    """Hand the rows after those seen to another frame, as the store does; return how many are seen now."""
    steps, values, seen = frame.rows_since(seen)
    copy.load(steps, values)
    return seen


def num_bytes(frame):
    return sys.getsizeof(frame._steps) + sys.getsizeof(frame._values)


def test_a_column_gives_back_steps_and_values_in_order():
    frame = Frame("grad_norm", ("weight", "bias"))
    frame.append(0, (1.0, 2.0))
    frame.append(3, (3.0, 4.0))
    assert frame.column("bias") == ([0, 3], [2.0, 4.0])
    assert len(frame) == 2


def test_an_unknown_subject_is_an_empty_column():
    assert filled([1.0]).column("no such name") == ([], [])


def test_an_empty_frame_has_no_last_row_and_no_greatest_value():
    frame = Frame("grad_norm", ("weight", "bias"))
    assert frame.last() is None
    assert all(math.isnan(value) for value in frame.greatest().values())
    assert frame.column("bias") == ([], [])


def test_the_last_row_is_the_newest_even_when_it_was_not_kept():
    frame = filled(range(11), max_rows=4)
    assert frame.stride > 1
    assert frame.last() == (10, (10,))


def test_the_first_row_is_the_oldest_however_often_rows_were_thinned():
    assert filled([]).first() is None
    for num_rows in range(1, 20):
        step, row = filled([5.0, *range(num_rows)], max_rows=3).first()
        assert (step, list(row)) == (0, [5.0])


def test_a_table_is_a_copy_of_the_rows_that_are_left():
    frame = Frame("grad_norm", ("weight", "bias"), max_rows=4)
    assert [each.shape for each in frame.table()] == [(0,), (0, 2)]
    for step in range(9):
        frame.append(step, (step, -step))
    steps, values = frame.table()
    assert (steps.tolist(), values.tolist()) == ([0, 4, 8], [[0, 0], [4, -4], [8, -8]])
    frame.append(12, (1.0, 1.0))  # which an array that others still hold would refuse


@pytest.mark.parametrize("max_rows", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("num_rows", range(1, 20))
def test_the_last_row_survives_every_thinning(max_rows, num_rows):
    frame = filled([0.0] * num_rows, max_rows=max_rows)
    assert frame.last()[0] == num_rows - 1
    assert frame.column()[0][-1] == num_rows - 1


def test_a_value_handed_over_in_a_list_that_changes_later_stays_what_it_was():
    frame, row = filled(range(5), max_rows=2), [7.0]
    frame.append(5, row)
    row[0] = -1.0
    assert -1.0 not in frame.column()[1]
    assert frame.last() == (5, (7.0,))


def test_the_greatest_value_is_found_among_dropped_rows_too():
    values = [0.0] * 40
    values[17] = 5.0
    assert filled(values, max_rows=4).greatest() == {"": 5.0}


def test_the_greatest_value_leaves_nan_out_and_lets_infinity_through():
    assert filled([NAN, 2.0, 1.0]).greatest() == {"": 2.0}
    assert filled([NAN, INF]).greatest() == {"": INF}
    assert filled([-INF]).greatest() == {"": -INF}


def test_where_all_values_are_nan_the_greatest_is_nan():
    assert math.isnan(filled([NAN, NAN]).greatest()[""])
    assert math.isnan(filled([NAN] * 20, max_rows=3).greatest()[""])


def test_thinning_keeps_rows_at_even_distances():
    steps = filled([1.0] * 1000, max_rows=64)._steps
    assert {after - before for before, after in pairwise(steps)} == {16}


def test_no_more_than_the_wanted_rows_are_kept():
    frame = filled([1.0] * 10_000, max_rows=100)
    assert len(frame._steps) <= 100
    assert len(frame) == 10_000


def test_a_spike_between_kept_rows_is_drawn_at_its_own_step():
    values = [1.0] * 1000
    values[501], values[733] = 99.0, -99.0
    points = dict(zip(*filled(values, max_rows=16).column(), strict=True))
    assert points[501] == 99.0
    assert points[733] == -99.0


def test_ten_thousand_steps_of_eight_metrics_of_three_hundred_parameters_stay_under_200_mb():
    names, row = tuple(f"layer{i}.weight" for i in range(300)), [1.0] * 300
    frame = Frame("grad_norm", names)
    for step in range(10_000):
        frame.append(step, row)
    assert len(frame.column(names[0])[0]) == 10_000
    assert 8 * num_bytes(frame) < 200e6


def test_a_frame_never_grows_past_its_bound():
    frame, row = Frame("grad_norm", tuple(map(str, range(3000)))), [1.0] * 3000
    for step in range(2500):
        frame.append(step, row)
    assert 8 * num_bytes(frame) < 200e6


def test_a_single_column_keeps_the_precision_of_the_loop():
    assert filled([0.1, 1e300]).column()[1] == [0.1, 1e300]


def test_rows_that_are_saved_in_pieces_come_back_whole():
    frame, copy = Frame("grad_norm", ("a", "b")), Frame("grad_norm", ("a", "b"))
    seen = 0
    for step in range(7):
        frame.append(step, (step, -step))
        if step % 3 == 1:
            seen = save(frame, copy, seen)
    assert save(frame, copy, seen) == 7
    assert [copy.column(name) for name in "ab"] == [frame.column(name) for name in "ab"]


@given(values=st.lists(numbers, min_size=1, max_size=60), max_rows=st.integers(1, 9))
def test_what_thinning_dropped_can_be_saved_and_restored(values, max_rows):
    frame, copy = filled(values, max_rows=max_rows), Frame("loss", ("",))
    save(frame, copy)
    if frame.dropped() is not None:
        copy.restore(frame.dropped())
    assert repr(copy.column()) == repr(frame.column())
    assert repr(copy.last()) == repr(frame.last())
    assert repr(copy.greatest()) == repr(frame.greatest())


def test_rows_that_were_seen_are_not_told_again():
    frame = filled([1.0, 2.0])
    assert frame.rows_since(0) == frame.rows_since(0)
    assert frame.rows_since(2) == (b"", b"", 2)


def test_values_that_do_not_fill_their_rows_are_refused():
    with pytest.raises(ValueError, match="2 rows of 1 columns cannot have 1 values"):
        Frame("loss", ("",)).load(*filled([1.0, 2.0]).rows_since(0)[:1], filled([1.0]).rows_since(0)[1])


@pytest.mark.parametrize("part", ["last", "low", "high"])
def test_what_is_left_of_other_columns_is_refused(part):
    frame = filled([1.0, 2.0, 3.0], max_rows=2)
    wide = {**frame.dropped(), part: ([0], [1.0, 2.0, 3.0])}
    with pytest.raises(ValueError, match="columns"):
        Frame("loss", ("",)).restore(wide)


@pytest.mark.parametrize(("num_rows", "wanted"), [(0, []), (3, [0, 1, 2]), (5, [0, 2, 4]), (100, [0, 49, 99])])
def test_a_sample_is_even_and_has_both_ends(num_rows, wanted):
    assert filled(map(float, range(num_rows))).sampled(3) == tuple(map(float, wanted))


def test_rows_saved_before_a_thinning_are_not_saved_twice():
    frame, saved = Frame("loss", ("",), max_rows=8), Frame("loss", ("",))
    seen = 0
    for step in range(30):
        frame.append(step, (float(step),))
        seen = save(frame, saved, seen)
    steps = saved.column()[0]
    assert len(steps) == len(set(steps))
    assert set(frame._steps) <= set(steps)


@given(values=st.lists(numbers, min_size=1, max_size=60), max_rows=st.integers(1, 20))
def test_first_last_least_and_greatest_are_always_kept_at_their_steps(values, max_rows):
    frame = filled(values, max_rows=max_rows)
    steps, kept = frame.column()
    finite = [value for value in values if not math.isnan(value)]
    assert steps == sorted(steps)
    assert all(repr(values[step]) == repr(value) for step, value in zip(steps, kept, strict=True))
    assert (steps[0], steps[-1]) == (0, len(values) - 1)
    if finite:
        sound = [value for value in kept if not math.isnan(value)]
        assert (min(sound), max(sound)) == (min(finite), max(finite))
        assert frame.greatest()[""] == max(finite)


@given(
    rows=st.lists(st.tuples(numbers, numbers, numbers), min_size=1, max_size=40),
    gaps=st.lists(st.integers(0, 5), min_size=40, max_size=40),
    max_rows=st.integers(1, 9),
)
def test_each_column_keeps_its_own_extremes(rows, gaps, max_rows):
    frame = Frame("grad_norm", ("a", "b", "c"), max_rows=max_rows)
    step = 0
    for row, gap in zip(rows, gaps, strict=False):
        step += gap
        frame.append(step, row)
    for i, name in enumerate("abc"):
        steps, kept = frame.column(name)
        wanted = [row[i] for row in rows if not math.isnan(row[i])]
        assert steps == sorted(steps)
        assert steps[-1] == step
        sound = [value for value in kept if not math.isnan(value)]
        assert not wanted or (min(sound), max(sound)) == (min(wanted), max(wanted))


@given(values=st.lists(st.floats(), max_size=50), cuts=st.sets(st.integers(0, 50)))
def test_saving_and_loading_is_the_identity(values, cuts):
    frame, copy, seen = Frame("loss", ("",)), Frame("loss", ("",)), 0
    for step, value in enumerate(values):
        frame.append(step, (value,))
        if step in cuts:
            seen = save(frame, copy, seen)
    save(frame, copy, seen)
    assert repr(copy.column()) == repr(frame.column())
