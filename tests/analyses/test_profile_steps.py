"""This file is how the steps of a profile spread, and which are slow."""

import pytest

from torchmagic.analyses.profile_steps import slow_steps, spread
from torchmagic.analyses.profile_window import PHASES, profile_window, step_seconds
from torchmagic.records.profile import PhasesRecord, ProfileRecord
from torchmagic.session.run import Run


def phases(forward, **others):
    columns = {phase: tuple(0.0 for _ in forward) for phase in PHASES} | {"forward": tuple(forward)} | others
    return PhasesRecord(steps=tuple(range(10, 10 + len(forward))), **columns)


def test_a_spread_is_told_by_median_quartiles_and_robust_deviation():
    found = spread([1.0, 2.0, 3.0, 4.0, 100.0])
    assert (found.low, found.middle, found.high, found.most) == (2.0, 3.0, 4.0, 100.0)
    assert found.deviation == pytest.approx(1.4826)


def test_a_slow_step_is_named_with_the_phase_that_made_it_slow():
    record = phases([0.1, 0.102, 0.098, 0.1, 0.101, 0.1], data=(0.01, 0.01, 0.01, 0.3, 0.01, 0.01))
    (slow,) = slow_steps(record)
    assert (slow.step, slow.phase) == (13, "data")
    assert slow.seconds == pytest.approx(0.4)
    assert slow.phase_excess == pytest.approx(0.29)
    assert slow.excess == pytest.approx(0.4 - 0.1105)


@pytest.mark.parametrize(
    "seconds",
    [
        [0.1, 0.1, 0.1, 0.9],  # too few to say what is usual
        [0.1] * 9 + [0.11],  # no deviation at all, and a tenth more is no outlier
        [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8],  # all differ
        [],
    ],
)
def test_steps_that_only_differ_are_not_slow(seconds):
    assert slow_steps(phases(seconds)) == []


def test_the_phases_of_a_step_add_up_to_it():
    record = phases([0.1, 0.2], data=(0.3, 0.1), idle=(0.05, 0.0))
    assert step_seconds(record) == pytest.approx([0.45, 0.3])


def test_the_last_profile_of_a_run_counts_and_a_window_without_steps_is_one():
    run = Run()
    assert profile_window(run) is None
    known = {"first_step": 0, "waited": 0, "warmed": 0, "busy": 0.0, "processor": 0.0, "events": 0}
    run.records += [ProfileRecord(steps=4, seconds=2.0, **known), ProfileRecord(steps=0, seconds=3.0, **known)]
    window = profile_window(run)
    assert (window.seconds, window.has_steps, window.share(1.5)) == (3.0, False, 0.5)
    run.records.append(ProfileRecord(steps=4, seconds=2.0, **known))
    assert profile_window(run).seconds == 0.5
    run.records.append(ProfileRecord(steps=4, seconds=0.0, **known))
    assert profile_window(run).share(1.0) == 0.0
