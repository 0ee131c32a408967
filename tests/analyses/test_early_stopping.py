"""This file tests early stopping and schedules on runs that were written by hand."""

import math

import pytest

from torchmagic.analyses.early_stopping import early_stopping
from torchmagic.analyses.schedules import schedules
from torchmagic.records.loss import LossRecord
from torchmagic.records.model import ModelRecord
from torchmagic.records.objective import GroupRecord, ObjectiveRecord
from torchmagic.records.place import Place
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


def loss_line(reduction, line):
    place = Place(file="<cell>", line=line, source="")
    return LossRecord(name="cross_entropy", input_shape=(8, 3), target_shape=(8,), reduction=reduction, place=place)


def objective(**changes):
    facts = {
        "loss": "loss", "place": None, "step": 0, "criteria": ("cross_entropy",), "mixed": False, "sign": 1,
        "scale": 1.0, "weighted": False, "log_prob": False, "num_classes": 3, "altered": False,
    }  # fmt: skip
    return ObjectiveRecord(**facts | changes)


@pytest.mark.parametrize(
    ("records", "comparable"),
    [
        ([], True),
        ([loss_line("mean", 1), loss_line("mean", 2), objective()], True),
        ([loss_line("mean", 1), loss_line("sum", 2)], False),
        ([objective(mixed=True)], False),
        ([objective(criteria=("mse_loss",))], False),
    ],
)
def test_only_losses_of_one_kind_are_compared(records, comparable):
    run = run_of([1.0, 0.8], train=lambda step: 1.0 - step / 100)
    run.records += records
    assert early_stopping(run)[0].comparable is comparable


def model(name="net"):
    return ModelRecord(name=name, class_name="Net", num_parameters=1, num_trainable=1, num_bytes=4)


def group(step, parameter):
    return GroupRecord(
        optimizer="opt", class_name="SGD", subject="opt", parameters=(parameter,), num_elements=1, lr=0.1,
        weight_decay=0.0, decoupled=False, maximize=False, step=step, built=None,
    )  # fmt: skip


FOLDS = [3.0, 1.0, 2.0, 2.0, 4.0, 2.5]


def test_of_folds_the_last_one_is_told():
    run = run_of(FOLDS)
    run.records += [model(), model(), group(0, "net.weight"), group(40, "net.weight")]
    (curve,) = early_stopping(run)
    assert (curve.since, curve.num_passes, curve.best, curve.would_stop) == (40, 2, 2.5, {})


def test_an_optimizer_that_is_built_again_for_the_same_model_begins_no_new_curve():
    run = run_of(FOLDS)
    run.records += [model(), group(0, "net.weight"), group(40, "net.weight")]
    (curve,) = early_stopping(run)
    assert (curve.since, curve.num_passes, curve.best) == (0, 6, 1.0)


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
