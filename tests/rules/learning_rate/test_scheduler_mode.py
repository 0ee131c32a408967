"""This file tests the rule on schedulers that watch a value the wrong way, on records written by hand."""

import pytest

from torchmagic.analyses.improvement import improvement
from torchmagic.rules.learning_rate.scheduler_mode import MIN_IMPROVEMENT, MIN_VALUES, scheduler_mode

EPOCH = 10
RISING = (0.5, 0.7, 0.8, 0.79, 0.85)
FALLING = tuple(1 - value for value in RISING)


def found(history, values=RISING, *, mode="min", rates=None, losses=None, **changes):
    count = len(values) * EPOCH
    history.losses(losses or [2.0 - i / count for i in range(count)]).group()
    history.rates(rates or [0.1] * (count // 2) + [0.01] * (count - count // 2))
    history.schedule(class_name="ReduceLROnPlateau", metric=True, mode=mode, **changes)
    steps = [EPOCH * (i + 1) for i in range(len(values))]
    history.series("schedule_metric", values, ("sched",), steps=steps)
    return list(scheduler_mode(history.run))


def test_a_score_that_rises_in_the_mode_for_losses_is_told_where_the_scheduler_was_built(history):
    (finding,) = found(history)
    assert (finding.severity, finding.line, finding.optimizer) == ("warning", 3, "opt")
    assert "waits for a minimum of a value that rises from 0.5 to 0.85" in finding.title
    assert finding.evidence["times that the rate was cut"] == 1
    assert 'mode="max"' in finding.fix


def test_a_loss_that_falls_in_the_mode_for_scores_is_told(history):
    (finding,) = found(history, FALLING, mode="max")
    assert "waits for a maximum of a value that falls from 0.5 to 0.15" in finding.title
    assert 'mode="min"' in finding.fix


@pytest.mark.parametrize(("values", "mode"), [(RISING, "max"), (FALLING, "min"), (RISING, "")])
def test_a_value_that_goes_where_it_should_is_silent(history, values, mode):
    assert found(history, values, mode=mode) == []


@pytest.mark.parametrize(
    "values", [(0.9, 0.6, 0.5, 0.6, 0.7, 0.8), (0.5, 0.5, 0.5, 0.5, 0.6), (0.5, 0.7, 0.4, 0.8, 0.3)]
)
def test_a_value_that_turns_stays_or_jumps_is_silent(history, values):
    assert found(history, values) == []


@pytest.mark.parametrize(
    "values", [(0.5, 0.7, *[0.8] * 20), (0.52, 0.5, 0.6, 0.7, 0.8), [0.5 + i / 1000 for i in range(450)]]
)
def test_what_stays_a_lucky_first_value_and_very_many_change_nothing(history, values):
    assert len(found(history, values)) == 1


def test_a_rate_that_was_never_cut_is_silent(history):
    assert found(history, rates=[0.1] * 50) == []


def test_a_training_that_does_not_go_well_is_silent(history):
    assert found(history, losses=[2.0 - i / 500 for i in range(50)]) == []


def test_fewer_values_are_silent(history):
    assert MIN_VALUES == 4
    assert found(history, RISING[:3]) == []


ENDS = [EPOCH * (i + 1) for i in range(len(RISING))]


@pytest.mark.parametrize(
    ("metric", "before", "last"), [("loss", 3.0, 1.0), ("loss", 0.5, 1.5), ("eval_loss", 3.0, 1.0)]
)
def test_a_loss_that_rises_is_no_mistake_of_the_mode(history, metric, before, last):
    # the newest is the value, or the mean is; behind the scheduler's step the next pass begins
    shares = (before, last, 0.2) if metric == "loss" and last == 1.0 else (before, last)
    at = [end - 1 + i - (metric == "loss") for end in ENDS for i in range(len(shares))]
    history.series(metric, [share * value for value in RISING for share in shares], ("other",), steps=at)
    assert found(history) == []
    assert improvement(history.run) >= MIN_IMPROVEMENT


def test_a_loss_that_falls_in_the_mode_for_scores_may_be_one_of_the_runs(history):
    history.series("eval_loss", FALLING, ("eval_loss",), steps=ENDS)
    assert len(found(history, FALLING, mode="max")) == 1


def test_a_scheduler_of_two_groups_is_told_once(history):
    history.group(subject="opt[1]").rates([0.1] * 25 + [0.01] * 25, "opt[1]")
    assert len(found(history)) == 1


def test_a_run_without_losses_says_nothing(history):
    history.group().rates([0.1] * 25 + [0.01] * 25)
    history.schedule(metric=True, mode="min").series("schedule_metric", RISING, ("sched",))
    assert list(scheduler_mode(history.run)) == []
