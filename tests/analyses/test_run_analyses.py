"""This file tests what is drawn from a whole run: where it broke, where its time went, and the verdict."""

import math

import pytest

from torchmagic.analyses.breakdown import breakdown_step, sound_part
from torchmagic.analyses.time_split import PHASES, time_split
from torchmagic.analyses.verdict import verdict
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.nonfinite import Birth, NonfiniteRecord
from torchmagic.records.series import Frame
from torchmagic.session.run import Run


@pytest.fixture
def run():
    return Run()


def finding(severity):
    return Finding(rule="x", severity=severity, confidence=1.0, title="")


def test_a_run_that_never_broke_is_sound_to_the_end(run):
    assert breakdown_step(run) is None
    assert sound_part(run, [0, 1], [2.0, math.nan])[0] == [0, 1]


def test_a_run_is_sound_until_the_first_value_was_born_that_is_not_finite(run):
    run.records += [NonfiniteRecord(birth=Birth.FORWARD, step=step) for step in (5, 3)]
    assert breakdown_step(run) == 3
    assert sound_part(run, [1, 2, 3, 4], [1.0, 2.0, 3.0, 4.0]) == ([1, 2], [1.0, 2.0])


def test_a_run_that_broke_at_once_has_no_sound_part(run):
    run.records.append(NonfiniteRecord(birth=Birth.INPUT, step=0))
    assert sound_part(run, [0, 1], [1.0, 2.0]) == ([], [])


def test_the_time_of_a_run_is_the_sum_over_its_steps(run):
    for step in range(3):
        run.frame("seconds", PHASES).append(step, [0.1, 0.2, 0.3, 0.4, 0.5])
    run.clock.cost = 0.25
    split = time_split(run)
    assert tuple(split) == (*PHASES, "torchmagic")
    assert split["forward"] == pytest.approx(0.6, abs=1e-6)
    assert split["torchmagic"] == 0.25


def test_all_parts_together_are_the_wall_time(run):
    frame = run.frame("seconds", PHASES)
    frame.append(0, [0.0, 0.5, 0.25, 0.0, 0.0])
    run.clock.seconds, run.clock.cost = 2.0, 0.5
    split = time_split(run)
    assert sum(split.values()) == pytest.approx(2.0)
    assert split["other"] == pytest.approx(0.75)


def test_an_empty_run_took_no_time(run):
    assert set(time_split(run).values()) == {0.0}


def test_a_long_run_of_which_some_steps_were_dropped_still_adds_up(run):
    frame = Frame("seconds", PHASES, max_rows=64)
    run.frames.append(frame)
    for step in range(4000):
        frame.append(step, [0.0, 0.001, 0.003, 0.0, 0.0])
    run.clock.seconds, run.clock.cost = 17.0, 1.0
    split = time_split(run)
    assert split["forward"] == pytest.approx(4.0, rel=1e-3)
    assert split["backward"] == pytest.approx(12.0, rel=1e-3)


@pytest.mark.parametrize(
    ("severities", "words"),
    [
        ((), "no findings"),
        ((Severity.ERROR,), "1 error"),
        ((Severity.WARNING, Severity.ERROR, Severity.WARNING), "1 error, 2 warnings"),
        ((Severity.INFO, Severity.INFO), "2 info"),
    ],
)
def test_the_verdict_counts_what_was_found_the_worst_first(run, severities, words):
    run.findings = tuple(map(finding, severities))
    assert verdict(run) == words
