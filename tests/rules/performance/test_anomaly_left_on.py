"""This file tests the rule on slow modes, on records written by hand."""

import pytest

from torchmagic.records.feeding import SlowModeRecord
from torchmagic.records.finding import Severity
from torchmagic.rules.performance.anomaly_left_on import anomaly_left_on
from torchmagic.session.run import Run

LOOKS = (0, 1, 2, 3, 4, 8, 16, 32, 64, 128)


def found(*looks, steps=200, mode="detect_anomaly"):
    run = Run()
    run.steps = steps
    run.records += [SlowModeRecord(step=step, mode=mode) for step in looks]
    return [each.severity for each in anomaly_left_on(run)]


@pytest.mark.parametrize("mode", ["detect_anomaly", "profiler"])
def test_a_mode_that_stayed_on_is_a_warning(mode):
    assert found(*LOOKS, mode=mode) == [Severity.WARNING]


def test_a_short_run_and_a_part_of_a_run_are_silent():
    assert found(*LOOKS, steps=199) == []
    assert found(*LOOKS[:-1]) == []
    assert found(*LOOKS[1:]) == []
    assert found(0, 1, 2, 128) == []


def test_each_mode_is_counted_by_itself():
    run = Run()
    run.steps = 200
    run.records += [SlowModeRecord(step=step, mode="detect_anomaly") for step in LOOKS]
    run.records += [SlowModeRecord(step=step, mode="profiler") for step in (0, 1, 128)]
    assert len(list(anomaly_left_on(run))) == 1
