"""This file tests the rule on workers started anew, on records written by hand."""

import pytest

from torchmagic.analyses.profile_costs import LEAST_GAIN
from torchmagic.records.speed import WorkerStartRecord
from torchmagic.rules.speed.restarted_workers import restarted_workers


def found(profiled, at, *, min_share=LEAST_GAIN, **changes):
    facts = {
        "loader": "train",
        "workers": 2,
        "passes": 5,
        "seconds": 1.0,
        "first": 0.2,
        "run_seconds": 10.0,
        "persistent": False,
    }
    record = WorkerStartRecord(**facts | changes, place=at("for x in train:"))
    return list(restarted_workers(profiled.add(record).written(), min_share=min_share))


def test_later_starts_are_told_with_what_they_took(profiled, at):
    (one,) = found(profiled, at)
    assert one.title == "starting 2 workers of train again in 4 passes took 800 ms; saves up to all of that"
    assert one.evidence["share of the run"] == "8.0%"
    assert one.source == "for x in train:"


def test_the_first_start_does_not_count(profiled, at):
    assert not found(profiled, at, seconds=1.0, first=0.8)


def test_workers_that_stay_are_silent(profiled, at):
    assert not found(profiled, at, persistent=True)


def test_two_passes_are_too_few(profiled, at):
    assert not found(profiled, at, passes=2)


def test_less_than_three_percent_of_the_run_is_silent(profiled, at):
    assert not found(profiled, at, seconds=0.49, first=0.2)


@pytest.mark.parametrize(("share", "told"), [(0.25, 1), (0.26, 0)])
def test_a_share_that_is_just_enough_is_told(profiled, at, share, told):
    assert len(found(profiled, at, seconds=3.0, first=0.5, min_share=share)) == told


def test_one_worker_is_not_counted(profiled, at):
    (one,) = found(profiled, at, workers=1)
    assert one.title.startswith("starting the worker of train again in 4 passes")
    assert one.fix == "DataLoader(..., num_workers=1, persistent_workers=True)"
