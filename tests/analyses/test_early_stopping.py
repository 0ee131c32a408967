"""This file tests early stopping and schedules on runs that were written by hand."""

import math

import pytest

from torchmagic.analyses.early_stopping import early_stopping
from torchmagic.analyses.schedules import schedules
from torchmagic.records.schedule import ScheduleRecord
from torchmagic.session.run import Run


def run_of(losses, *, train=None, every=10):
    run = Run()
    for i, loss in enumerate(losses):
        run.frame("eval_loss", ("cross_entropy(val)",)).append((i + 1) * every, (loss,))
    for step in range(len(losses) * every if train is not None else 0):
        run.frame("loss", ("loss",)).append(step, (train(step),))
    return run


def test_a_falling_curve_would_never_stop():
    (curve,) = early_stopping(run_of([5.0, 4.0, 3.0, 2.0, 1.0]))
    assert (curve.best, curve.best_pass, curve.since_best, curve.would_stop, curve.rise) == (1.0, 4, 0, {}, 0.0)


def test_patience_runs_out_at_the_first_evaluation_that_is_too_late():
    (curve,) = early_stopping(run_of([3.0, 1.0, *[2.0] * 10, 0.5, *[2.0] * 4]))
    assert curve.would_stop == {3: 50, 5: 70, 10: 120}
    assert (curve.best, curve.best_step, curve.since_best) == (0.5, 130, 4)


def test_a_change_too_small_to_count_is_no_better():
    losses = [1.0, 0.999, 0.998, 0.997, 0.5]
    assert early_stopping(run_of(losses), least_change=0.01)[0].would_stop == {3: 40}
    assert early_stopping(run_of(losses))[0].would_stop == {}


def test_the_gap_is_measured_against_the_training_loss_of_the_steps_before():
    (curve,) = early_stopping(run_of([1.0, 0.8, 1.5], train=lambda step: 1.0 - step / 100))
    assert curve.gap_at_best == pytest.approx(0.8 - sum(1.0 - step / 100 for step in range(20)) / 20)
    assert curve.gap_at_last == pytest.approx(1.5 - sum(1.0 - step / 100 for step in range(10, 30)) / 20)
    assert curve.rise == pytest.approx(0.7 / 0.8)


def test_losses_that_are_not_finite_are_no_best():
    (curve,) = early_stopping(run_of([math.nan, 2.0, math.inf]))
    assert (curve.best, curve.best_pass, curve.since_best) == (2.0, 1, 1)
    assert math.isnan(early_stopping(run_of([math.nan]))[0].best)


def record(**more):
    fields = {
        "name": "decay", "class_name": "OneCycleLR", "optimizer": "opt", "settings": {"total_steps": 100.0},
        "base_lr": (0.1,), "parts": (), "step": 1, "stepped": True, "before_optimizer": False, "metric": False,
        "scaled": False, "built": None, "place": None,
    }  # fmt: skip
    return ScheduleRecord(**{**fields, **more})


def test_a_schedule_that_went_half_its_course_says_so():
    run = Run()
    run.records.append(record())
    for i in range(50):
        run.frame("schedule_steps", ("decay",)).append(4 * (i + 1), (i + 1,))
    (row,) = schedules(run)
    assert (row.num_steps, row.cadence, row.length, row.done) == (50, 4.0, 100, 0.5)


def test_a_schedule_that_was_never_stepped_has_no_cadence():
    run = Run()
    run.records.append(record(stepped=False, step=None))
    (row,) = schedules(run)
    assert (row.num_steps, row.cadence, row.done) == (0, None, 0.0)
