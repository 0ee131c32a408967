"""This file tests the rule on the first loss, on values written by hand."""

import math
from dataclasses import replace

import pytest

from torchmagic.records.model import ModelRecord, ParameterRecord
from torchmagic.records.notebook import OptimizerStateRecord
from torchmagic.records.objective import GroupRecord
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


@pytest.mark.parametrize(("trainable", "told"), [(100, 1), (99, 0)])
def test_a_model_that_is_partly_frozen_was_trained_before_and_its_head_is_not_to_be_wiped(history, trainable, told):
    model = ModelRecord(name="net", class_name="Net", num_parameters=100, num_trainable=trainable, num_bytes=400)
    history.run.records.append(model)
    assert len(found(history, 2.5)) == told


def test_only_a_layer_that_was_never_trained_is_to_be_set_to_zero(history):
    (finding,) = found(history, 2.5)
    assert "that was never trained" in finding.fix


@pytest.mark.parametrize(("level", "told"), [(0.0, 0), (2.3, 1)])
def test_targets_that_are_always_the_same_are_no_classes_to_guess(history, level, told):
    history.series("chance_loss", [level], ("loss",))
    assert len(found(history, 2.5)) == told


@pytest.mark.parametrize(("parameters", "told"), [(("image",), 0), (("image", "net.weight"), 1)])
@pytest.mark.parametrize("times", [2.5, 0.3])
def test_an_input_that_is_made_to_suit_a_model_says_nothing_of_its_beginning(history, parameters, told, times):
    history.group(parameters=parameters)
    assert len(found(history, times)) == told


def test_weights_that_belong_to_no_module_are_trained(history):
    history.run.records.append(replace(history.group().run.of(GroupRecord)[0], parameters=("w",)))
    history.run.records[:] = [each for each in history.run.records if not isinstance(each, ParameterRecord)]
    assert len(found(history, 2.5)) == 1
