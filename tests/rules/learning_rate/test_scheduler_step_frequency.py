"""This file tests the rule on schedulers stepped too often or too seldom, on rates written by hand."""

import pytest

from torchmagic.records.note import CrashRecord
from torchmagic.rules.learning_rate.scheduler_step_frequency import scheduler_step_frequency

VANISHES = [0.1] * 10 + [1e-5] * 90


def found(history, rates, *, counts, **changes):
    history.group().rates(rates).schedule(counts=counts, **changes)
    return list(scheduler_step_frequency(history.run))


def test_a_rate_that_is_spent_before_a_quarter_of_the_run_is_told_at_the_step(history):
    (finding,) = found(history, VANISHES, counts=range(100))
    assert (finding.severity, finding.line, finding.source) == ("warning", 11, "sched.step()")


def test_a_step_that_an_epoch_makes_as_well_is_one_too_many(history):
    lines = ["for epoch in epochs:", "  for x in xs:", "    x.backward()", *["    pass"] * 7, "    sched.step()"]
    history.run.source = "\n".join([*lines, "  sched.step()"])
    (finding,) = found(history, VANISHES, counts=range(100))
    assert finding.fix == "remove this sched.step(): the one in line 12 already steps it once an epoch"


def test_the_rate_that_a_next_step_would_have_is_not_counted_as_one(history):
    history.group().rates(VANISHES).schedule(counts=range(100))
    history.run.steps = 99
    (finding,) = scheduler_step_frequency(history.run)
    assert finding.evidence["steps"] == 99
    assert finding.title.endswith("by step 10 of 99")


@pytest.mark.parametrize(("spent_at", "count"), [(24, 1), (25, 0)])
def test_a_rate_that_is_spent_later_is_silent(history, spent_at, count):
    rates = [0.1] * spent_at + [1e-5] * (100 - spent_at)
    assert len(found(history, rates, counts=range(100))) == count


@pytest.mark.parametrize(("rate", "count"), [(1.01e-4, 0), (0.1 * 0.1 * 0.1 * 0.1, 1)])
def test_a_rate_is_spent_from_a_thousandth_on(history, rate, count):
    assert len(found(history, [0.1] * 10 + [rate] * 90, counts=range(100))) == count


@pytest.mark.parametrize("name", ["CosineAnnealingWarmRestarts", "CyclicLR", "LambdaLR", "OneCycleLR"])
def test_schedules_that_rise_again_or_are_made_by_hand_are_silent(history, name):
    assert found(history, VANISHES, counts=range(100), class_name=name) == []


def test_a_warm_up_from_almost_nothing_is_silent(history):
    assert found(history, [1e-6] * 20 + [0.1] * 80, counts=range(100)) == []


def test_each_fold_is_judged_by_itself(history):
    for fold in range(4):
        history.group(step=25 * fold).schedule(step=25 * fold + 1)
    history.rates(([0.1] * 20 + [1e-5] * 5) * 4).series("schedule_steps", [*range(1, 26)] * 4, ("sched",))
    assert list(scheduler_step_frequency(history.run)) == []


ONE_CYCLE = {"class_name": "OneCycleLR", "settings": {"total_steps": 1000.0}}
RISES = [0.01 + 0.0001 * step for step in range(100)]


def test_a_one_cycle_schedule_that_never_leaves_its_warm_up_is_told(history):
    (finding,) = found(history, RISES, counts=range(0, 100, 10), **ONE_CYCLE)
    assert finding.evidence["steps of the schedule"] == 10


def test_one_that_has_begun_to_fall_is_silent(history):
    assert found(history, [*RISES, 0.005], counts=range(101), **ONE_CYCLE) == []


def test_one_that_gets_half_of_its_steps_is_silent(history):
    settings = {"class_name": "OneCycleLR", "settings": {"total_steps": 200.0}}
    assert found(history, RISES, counts=range(100), **settings) == []


def test_one_from_an_earlier_cell_goes_on_and_is_silent(history):
    assert found(history, RISES, counts=range(0, 100, 10), built=None, **ONE_CYCLE) == []


def test_a_run_that_was_cut_off_is_silent(history):
    history.run.records.append(CrashRecord(error="KeyboardInterrupt", message="", file="", line=1, source=""))
    assert found(history, RISES, counts=range(0, 100, 10), **ONE_CYCLE) == []


def test_a_step_beyond_the_last_is_told(history):
    message = "Tried to step 102 times. The specified number of total steps is 100"
    history.run.records.append(CrashRecord(error="ValueError", message=message, file="", line=1, source=""))
    settings = {"class_name": "OneCycleLR", "settings": {"total_steps": 100.0}}
    assert len(found(history, RISES, counts=range(100), **settings)) == 1


def test_a_cosine_over_all_batches_that_is_stepped_once_an_epoch_is_told(history):
    cosine = {"class_name": "CosineAnnealingLR", "settings": {"T_max": 100.0}}
    assert len(found(history, [0.1] * 100, counts=range(0, 100, 10), **cosine)) == 1


def test_a_cosine_of_another_length_is_silent(history):
    cosine = {"class_name": "CosineAnnealingLR", "settings": {"T_max": 50.0}}
    assert found(history, [0.1] * 100, counts=range(0, 100, 10), **cosine) == []


def test_one_that_is_never_stepped_is_another_rules_matter(history):
    assert found(history, VANISHES, counts=range(100), stepped=False) == []


@pytest.mark.parametrize(("spent", "steps", "count"), [(3, 19, 0), (3, 20, 1)])
def test_twenty_steps_are_needed_for_a_rate_that_is_spent(history, spent, steps, count):
    assert len(found(history, [0.1] * spent + [1e-5] * (steps - spent), counts=range(steps))) == count


def test_twenty_steps_are_needed_for_a_schedule_that_hardly_begins(history):
    assert found(history, RISES[:19], counts=range(0, 19, 5), **ONE_CYCLE) == []
    assert len(found(history, RISES[:20], counts=range(0, 20, 5), **ONE_CYCLE)) == 1


def test_an_error_of_another_schedule_is_not_this_ones(history):
    message = "Tried to step 102 times. The specified number of total steps is 100"
    history.run.records.append(CrashRecord(error="ValueError", message=message, file="", line=1, source=""))
    settings = {"class_name": "OneCycleLR", "settings": {"total_steps": 400.0}}
    assert found(history, RISES, counts=range(100), **settings) == []


def test_another_error_at_the_end_of_a_schedule_is_not_its_own(history):
    history.run.records.append(CrashRecord(error="ValueError", message="no", file="", line=1, source=""))
    settings = {"class_name": "OneCycleLR", "settings": {"total_steps": 100.0}}
    assert found(history, RISES, counts=range(100), **settings) == []


def test_a_line_that_steps_two_groups_is_told_once(history):
    history.group(subject="opt[1]").rates(VANISHES, "opt[1]")
    assert len(found(history, VANISHES, counts=range(100))) == 1


def test_a_cosine_over_all_batches_that_is_stepped_with_each_of_them_is_silent(history):
    cosine = {"class_name": "CosineAnnealingLR", "settings": {"T_max": 130.0}}
    assert found(history, [0.1] * 60, counts=range(60), **cosine) == []
