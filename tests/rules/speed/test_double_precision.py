"""This file tests the rule on float64, on records written by hand."""

import pytest

from torchmagic.records.model import OptimizerRecord
from torchmagic.records.note import EnvironmentRecord
from torchmagic.records.profile import SourcesRecord
from torchmagic.rules.speed.double_precision import double_precision


def double(profiled, forward=0.1, backward=0.2):
    return profiled.module("0").module("head", "float64", forward_own=forward, backward_own=backward)


def test_a_layer_in_float64_is_told_at_the_line_that_calls_it(profiled, at):
    profiled.operator("addmm", 0.1, module="net.head", place=at("return self.head(x.double())", "forward"))
    (found,) = double_precision(double(profiled).written())
    assert found.title == "net.head computes in float64: 30 ms a step (30% of the time)"
    assert (found.module, found.source) == ("net.head", "return self.head(x.double())")


def test_the_dearest_of_several_is_named(profiled):
    run = double(profiled).module("body", "float64", forward_own=0.2, backward_own=0.3).written()
    assert next(double_precision(run)).title.startswith("net.body and 1 more modules compute in float64: 80 ms")


def test_cheap_ones_are_silent(profiled):
    assert not list(double_precision(double(profiled, 0.01, 0.019).written()))


def test_float64_that_was_asked_for_everywhere_is_silent(profiled):
    everywhere = EnvironmentRecord(
        torch="2", python="3", platform="p", device="cpu", num_threads=1, default_dtype="float64"
    )
    assert not list(double_precision(double(profiled).add(everywhere).written()))


def test_second_order_methods_are_silent(profiled):
    lbfgs = OptimizerRecord(name="opt", class_name="LBFGS", lr=(1.0,), parameters=("net.0",))
    assert not list(double_precision(double(profiled).add(lbfgs).written()))


@pytest.mark.parametrize("text", ["torch.set_default_dtype(torch.float64)", "loss.backward(create_graph=True)"])
def test_code_with_reasons_for_it_is_silent(profiled, text):
    assert not list(double_precision(double(profiled).add(SourcesRecord(texts={"a.py": text})).written()))
