"""This file tests the rule on schedulers that are stepped too early, on records written by hand."""

import pytest

from torchmagic.records.model import OptimizerRecord
from torchmagic.records.place import Place
from torchmagic.rules.learning_rate.scheduler_before_optimizer import scheduler_before_optimizer


def found(history, *, steps=10, **changes):
    history.run.steps = steps
    return list(scheduler_before_optimizer(history.schedule(**{"before_optimizer": True} | changes).run))


def test_an_early_step_is_told_at_its_line(history):
    (finding,) = found(history)
    assert (finding.severity, finding.line, finding.source) == ("warning", 11, "sched.step()")


def test_a_step_behind_the_optimizers_is_silent(history):
    assert found(history, before_optimizer=False) == []


def test_steps_that_a_scaler_may_have_skipped_are_silent(history):
    assert found(history, scaled=True) == []


def test_a_schedule_that_is_only_drawn_is_silent(history):
    assert found(history, steps=0) == []


def test_one_line_is_told_once(history):
    history.schedule(before_optimizer=True)
    assert len(found(history)) == 1


def test_a_step_that_is_told_where_it_stands_loses_no_rate_and_stays_in_its_loop(history):
    line = Place(file="<cell>", line=7, source="sched.step(epoch + i / len(loader))")
    (finding,) = found(history, place=line)
    assert finding.fix == "sched.step(epoch + i / len(loader))  # after opt.step(), in the same loop"
    assert "loses no rate" in finding.why
    (finding,) = found(type(history)(), place=line, metric=True)
    assert "only then" in finding.fix


# Steps of the optimizer before each step of the schedule.
WAITS, TOO_EARLY, EACH_BATCH = [0, 0, 0, 4, 9, 14], [0, 5, 10, 15], [0, 0, 0, 0, 1, 1, 1, 1, 2, 2]


def test_an_optimizer_that_waits_for_a_full_buffer_is_silent(history):
    assert found(history, step=0, counts=WAITS) == []


@pytest.mark.parametrize("counts", [TOO_EARLY, EACH_BATCH, [0]])
def test_what_does_not_look_like_waiting_is_told(history, counts):
    assert len(found(history, step=0, counts=counts)) == 1


@pytest.mark.parametrize(("line", "told"), [(12, 1), (4, 0)])
def test_a_schedule_that_stands_below_the_step_ran_because_the_step_did_not(history, line, told):
    step = Place(file="<cell>", line=line, source="opt.step()")
    history.run.records.append(
        OptimizerRecord(name="opt", class_name="SGD", lr=(0.1,), parameters=("net.weight",), place=step)
    )
    assert len(found(history, step=0, counts=TOO_EARLY)) == told
