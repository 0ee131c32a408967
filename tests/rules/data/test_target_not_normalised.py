"""This file tests the rule on targets out of reach, on series written by hand."""

import math

import pytest

from torchmagic.records.finding import Severity
from torchmagic.records.loss import LossRecord
from torchmagic.records.model import OptimizerRecord
from torchmagic.records.place import Place
from torchmagic.rules.data.target_not_normalised import target_not_normalised
from torchmagic.session.run import Run

PLACE = Place(file="<cell>", line=4, source="loss = F.mse_loss(net(x), y)")


def found(outputs, target, *, loss="mse_loss", steps=20, optimizers=1, losses=(), reduction="mean", others=()):
    run = Run()
    run.steps = steps
    run.records += others
    for number in range(optimizers):
        run.records.append(OptimizerRecord(name=f"opt{number}", class_name="SGD", lr=(0.1,), parameters=()))
    run.records.append(LossRecord(name=loss, input_shape=(8, 1), target_shape=(8, 1), reduction=reduction, place=PLACE))
    for step, output in enumerate(outputs):
        subjects = f"{loss}[input]", f"{loss}[target]"
        run.frame("batch_mean", subjects).append(step, (0.0, target))
        run.frame("batch_std", subjects).append(step, (output, 0.0))
    for step, value in enumerate(losses):
        run.frame("loss", ("loss",)).append(step, (value,))
    return list(target_not_normalised(run))


def test_targets_that_stay_out_of_reach_are_a_warning_at_the_loss():
    (finding,) = found([0.5, 1.0, 2.0], 300.0)
    assert (finding.severity, finding.line, finding.source) == (Severity.WARNING, 4, PLACE.source)


@pytest.mark.parametrize(
    ("first", "target", "told"), [(1.0, 99.0, 0), (1.0, 100.0, 1), (20.0, 1000.0, 0), (20.0, 1001.0, 1)]
)
def test_targets_are_far_from_a_hundred_times_the_outputs_or_a_thousand_on(first, target, told):
    assert len(found([first, first], target)) == told


def test_targets_of_a_few_units_are_silent_however_small_the_outputs():
    assert found([1e-9, 1e-9], 9.0) == []


@pytest.mark.parametrize(("last", "told"), [(150.0, 1), (151.0, 0), (300.0, 0)])
def test_a_model_that_gets_half_the_way_is_silent(last, told):
    assert len(found([0.5, last], 300.0)) == told


def test_the_error_of_a_mean_of_squares_counts_although_the_scale_is_right():
    assert len(found([0.5, 300.0], 300.0, losses=[300.0**2] * 20)) == 1
    assert found([0.5, 300.0], 300.0, losses=[10.0] * 20) == []


@pytest.mark.parametrize(("settings"), [{"steps": 9}, {"optimizers": 2}, {"loss": "poisson_nll_loss"}])
def test_short_runs_several_optimizers_and_other_losses_are_silent(settings):
    assert found([0.5, 1.0], 300.0, **settings) == []


def test_numbers_that_are_none_are_silent():
    assert found([math.nan, math.nan], 300.0) == []
    assert found([0.5], 300.0) == []


def test_a_sum_of_squares_is_no_error_of_one_number():
    assert found([0.5, 300.0], 300.0, losses=[300.0**2] * 20, reduction="sum") == []


def test_an_absolute_error_is_no_mean_of_squares():
    assert found([0.5, 300.0], 300.0, loss="l1_loss", losses=[300.0**2] * 20) == []


def test_a_loss_that_ends_in_numbers_that_are_none_says_nothing():
    assert found([0.5, 300.0], 300.0, losses=[math.inf] * 20) == []


def test_a_last_look_that_is_none_is_left_out():
    assert len(found([0.5, 1.0, math.inf], 300.0)) == 1


def test_another_loss_does_not_give_its_place_or_its_way_of_adding_up():
    other = LossRecord(
        name="l1_loss", input_shape=(8, 1), target_shape=(8, 1), reduction="sum",
        place=Place(file="<cell>", line=2, source="extra = F.l1_loss(a, b, reduction='sum')"),
    )  # fmt: skip
    (finding,) = found([0.5, 300.0], 300.0, losses=[300.0**2] * 20, others=(other,))
    assert finding.line == 4


@pytest.mark.parametrize(("log_prob", "told"), [(False, 1), (True, 0)])
def test_the_returns_of_a_policy_are_no_targets_to_be_normalised_beforehand(history, log_prob, told):
    objectives = history.objective(criteria=("mse_loss",), mixed=True, log_prob=log_prob).run.records
    assert len(found([0.5, 1.0, 2.0], 300.0, others=objectives)) == told
