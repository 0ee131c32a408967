"""This file tests the rule on gradients of inputs, on records written by hand."""

import pytest

from torchmagic.records.speed import InputGradientRecord
from torchmagic.rules.speed.input_gradient import input_gradient


def found(profiled, at, *, source="loss.backward()", own=0.2, steps=4, looks=4):
    profiled.run.source = source
    profiled.module("", "", class_name="Net").module("0", backward_own=own).module("1", backward_own=0.3)
    record = InputGradientRecord(model="net", steps=steps, looks=looks, shape=(8, 3), place=at("y = net(x)"))
    return list(input_gradient(profiled.add(record).written()))


def test_the_first_layers_half_is_told(profiled, at):
    (one,) = found(profiled, at)
    assert one.title == (
        "the input of net gets a gradient that nothing reads: about 10 ms a step (10% of the time); "
        "saves up to all of that"
    )
    assert (one.module, one.source) == ("net.0", "y = net(x)")


@pytest.mark.parametrize(
    "source", ["x = x + 0.1 * x.grad.sign()", "g = torch.autograd.grad(y, x)", "x.register_hook(print)", ""]
)
def test_code_that_uses_gradients_or_is_not_known_is_silent(profiled, at, source):
    assert not found(profiled, at, source=source)


@pytest.mark.parametrize("source", ["opt.zero_grad()", "with torch.no_grad():", "x.requires_grad_()"])
def test_words_that_only_look_so_do_not_count(profiled, at, source):
    assert found(profiled, at, source=source)


def test_a_cheap_first_layer_is_silent(profiled, at):
    assert not found(profiled, at, own=0.059)


@pytest.mark.parametrize(("steps", "looks"), [(3, 4), (1, 1)])
def test_inputs_that_did_not_always_get_one_are_silent(profiled, at, steps, looks):
    assert not found(profiled, at, steps=steps, looks=looks)


def test_a_model_without_layers_in_the_profile_is_silent(profiled, at):
    record = InputGradientRecord(model="net", steps=4, looks=4, shape=(8, 3), place=at("y = net(x)"))
    assert not list(input_gradient(profiled.module("", "", backward_own=0.5).add(record).written()))
