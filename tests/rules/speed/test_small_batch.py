"""This file tests the rule on small batches, on records written by hand."""

import pytest

from torchmagic.records.speed import BatchTime, BatchTimesRecord
from torchmagic.rules.speed.small_batch import small_batch


def found(profiled, at, *times, device="cpu", **thresholds):
    times = tuple(BatchTime(rows=rows, steps=steps, seconds=seconds) for rows, steps, seconds in times)
    run = profiled.add(BatchTimesRecord(times=times, device=device, place=at())).written()
    return list(small_batch(run, **thresholds))


def test_a_short_batch_that_takes_as_long_is_told(profiled, at):
    (one,) = found(profiled, at, (32, 30, 0.001), (8, 3, 0.0009))
    assert (
        one.title
        == "the fastest step of 8 rows took 900 µs and of 32 rows 1.0 ms; saves up to 43 ms a step (43% of the time)"
    )
    assert one.evidence["of a step, without regard to its rows"] == "87%"
    assert "batch_size=64" in one.fix


@pytest.mark.parametrize(
    "times",
    [
        [(32, 30, 0.001)],
        [(32, 30, 0.001), (8, 3, 0.0004)],
        [(32, 30, 0.001), (8, 2, 0.0009)],
        [(32, 7, 0.001), (8, 3, 0.0009)],
        [(32, 30, 0.001), (20, 3, 0.0009)],
    ],
    ids=["one size", "time grows with rows", "too few short ones", "too few usual ones", "hardly shorter"],
)
def test_what_says_nothing_is_silent(profiled, at, times):
    assert not found(profiled, at, *times)


def test_an_accelerator_may_not_be_done_when_the_step_is(profiled, at):
    assert not found(profiled, at, (32, 30, 0.001), (8, 3, 0.0009), device="cuda")


@pytest.mark.parametrize("times", [[], [(32, 30, 0.0), (8, 3, 0.0)]], ids=["no sizes", "no time"])
def test_what_has_no_sizes_or_no_time_is_silent(profiled, at, times):
    assert not found(profiled, at, *times)


def test_the_most_frequent_of_the_small_ones_is_compared(profiled, at):
    (one,) = found(profiled, at, (32, 30, 0.001), (4, 3, 0.0001), (8, 5, 0.0009))
    assert one.title.startswith("the fastest step of 8 rows")


def test_the_usual_size_is_the_one_that_most_rows_came_in(profiled, at):
    (one,) = found(profiled, at, (8, 14, 0.0009), (32, 10, 0.001))
    assert one.title.startswith("the fastest step of 8 rows took 900 µs and of 32 rows")


def test_eight_usual_steps_and_three_of_half_the_rows_are_enough(profiled, at):
    assert found(profiled, at, (32, 8, 0.001), (16, 3, 0.0009))


def test_a_batch_of_little_more_than_half_the_rows_says_nothing(profiled, at):
    assert not found(profiled, at, (32, 8, 0.001), (17, 3, 0.0009))


@pytest.mark.parametrize(("share", "told"), [(0.5, 1), (0.51, 0)])
def test_a_share_that_is_just_enough_is_told(profiled, at, share, told):
    assert len(found(profiled, at, (4, 9, 1.0), (2, 3, 0.75), min_share=share)) == told
