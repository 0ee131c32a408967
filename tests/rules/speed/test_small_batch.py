"""This file tests the rule on small batches, on records written by hand."""

import pytest

from torchmagic.records.speed import BatchTime, BatchTimesRecord
from torchmagic.rules.speed.small_batch import small_batch


def found(profiled, at, *times, device="cpu"):
    times = tuple(BatchTime(rows=rows, steps=steps, seconds=seconds) for rows, steps, seconds in times)
    return list(small_batch(profiled.add(BatchTimesRecord(times=times, device=device, place=at())).written()))


def test_a_short_batch_that_takes_as_long_is_told(profiled, at):
    (one,) = found(profiled, at, (32, 30, 0.001), (8, 3, 0.0009))
    assert one.title == "steps of 8 rows take 900 µs and steps of 32 rows 1.0 ms"
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
