"""This file tests the rule on memory formats, on records written by hand."""

import pytest

from torchmagic.records.speed import VerifiedRecord
from torchmagic.rules.speed.missing_channels_last import missing_channels_last


def tried(after, spread=0.02, cure="channels_last"):
    return VerifiedRecord(
        cure=cure, subject="net", what="forward and backward", trials=9, before=0.1, after=after, spread=spread
    )


def convolving(profiled, **model):
    profiled.model(**{"convolutions": 5} | model).operator("mkldnn_convolution", 0.2)
    return profiled.operator("convolution_backward", 0.2, phase="backward")


def test_a_cure_that_was_measured_is_told(profiled):
    (found,) = missing_channels_last(convolving(profiled).add(tried(0.05)).written())
    assert found.title == (
        "5 convolutions of net take 40 ms a step (40% of the time); "
        "channels_last makes the model 2.0x as fast, as measured"
    )
    assert found.evidence["forward and backward before"] == "100 ms"
    assert found.confidence == 0.9


def test_on_a_processor_nothing_is_claimed_unmeasured(profiled):
    assert not list(missing_channels_last(convolving(profiled).hardware().written()))


@pytest.mark.parametrize(("after", "spread"), [(0.0985, 0.0), (0.12, 0.01), (0.09, 0.09)])
def test_a_cure_that_gains_nothing_or_may_is_silent(profiled, after, spread):
    assert not list(missing_channels_last(convolving(profiled).add(tried(after, spread)).written()))


def test_another_cure_does_not_count(profiled):
    assert not list(missing_channels_last(convolving(profiled).add(tried(0.05, cure="bfloat16")).written()))


@pytest.mark.parametrize("facts", [{"channels_last": 4}, {"input_channels_last": True}, {"convolutions": 0}])
def test_models_that_have_it_or_no_use_for_it_are_silent(profiled, facts):
    assert not list(missing_channels_last(convolving(profiled, **facts).add(tried(0.05)).written()))


def test_few_convolutions_are_silent(profiled):
    profiled.model(convolutions=5).operator("mkldnn_convolution", 0.19)
    assert not list(missing_channels_last(profiled.add(tried(0.05)).written()))


def test_half_weights_are_half_values_too(profiled):
    profiled.hardware(device="cuda", capability="8.0").module(dtype="bfloat16")
    (found,) = missing_channels_last(convolving(profiled).written())
    assert found.confidence == 0.6


@pytest.mark.parametrize(("autocast", "told"), [(True, 1), (False, 0)])
def test_on_an_accelerator_half_values_are_known_to_want_it(profiled, autocast, told):
    profiled.hardware(device="cuda", capability="8.0")
    assert len(list(missing_channels_last(convolving(profiled, autocast=autocast).written()))) == told


@pytest.mark.parametrize("facts", [{"device": "cpu"}, {"device": "cuda", "half": ""}], ids=str)
def test_hardware_of_which_it_is_not_known_is_silent(profiled, facts):
    profiled.hardware(**facts).module(dtype="float16")
    assert not list(missing_channels_last(convolving(profiled).written()))
