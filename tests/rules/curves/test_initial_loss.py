"""This file tests the rule on the first loss, on values written by hand."""

import math

import pytest

from torchmagic.records.notebook import OptimizerStateRecord
from torchmagic.rules.curves.initial_loss import initial_loss


def found(history, times, **objective):
    value = times * math.log(10)
    history.losses([value] * 5, **{"num_classes": 10} | objective).series("criterion", [value], ("loss",))
    return list(initial_loss(history.run))


@pytest.mark.parametrize("times", [2.1, 0.4])
def test_a_first_loss_far_from_chance_is_told_mildly(history, times):
    (finding,) = found(history, times)
    assert finding.severity == "info"


@pytest.mark.parametrize("times", [1.9, 1.0, 0.6])
def test_a_usual_one_is_silent(history, times):
    assert found(history, times) == []


@pytest.mark.parametrize("objective", [{"altered": True}, {"num_classes": 0}, {"log_prob": True}])
def test_where_the_level_is_another_it_is_silent(history, objective):
    assert found(history, 5.0, **objective) == []


def test_a_model_that_goes_on_training_is_silent(history):
    history.run.records.append(OptimizerStateRecord(optimizer="opt", steps=9, keys=("exp_avg",)))
    assert found(history, 0.1) == []
