"""This file tests the rule on float64, on records written by hand."""

import pytest

from torchmagic.records.model import OptimizerRecord
from torchmagic.records.note import EnvironmentRecord
from torchmagic.records.notebook import GlobalModesRecord
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
    assert next(double_precision(run)).title.startswith("net.body and 1 more module compute in float64: 80 ms")


@pytest.mark.parametrize(
    ("paths", "code"),
    [
        (["head"], "net.head"),
        (["layers.3.1"], "net.layers[3][1]"),
        (["layers.3.a", "layers.3.b"], "net.layers[3]"),
        (["layers.3", "layers.31"], "net.layers"),
        (["", "head"], "net"),
    ],
    ids=str,
)
def test_what_to_change_is_named_as_code_names_it(profiled, paths, code):
    for path in paths:
        profiled.module(path, "float64", forward_own=0.1)
    (found,) = double_precision(profiled.written())
    assert found.fix == f"{code}.float()  # and x.float() for what it is given"


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


@pytest.mark.parametrize("word", ["gradcheck", "hessian", "jacobian", "hvp", "jacrev", "jacfwd"])
def test_each_word_of_somebody_who_wants_it_is_a_reason(profiled, word):
    assert not list(double_precision(double(profiled).add(SourcesRecord(texts={"a.py": f"{word}(f, x)"})).written()))


@pytest.mark.parametrize(("call", "told"), [("torch.set_default_dtype", 0), ("torch.set_grad_enabled", 1)])
def test_a_default_that_was_found_changed_is_a_reason(profiled, call, told):
    found = GlobalModesRecord(changed={call: "torch.float64"}, kept=())
    assert len(list(double_precision(double(profiled).add(found).written()))) == told


def test_on_an_accelerator_its_kernels_count(profiled):
    run = profiled.module("0", "float64", forward_own=0.5, device=0.2).written()
    assert next(double_precision(run)).title == "net.0 computes in float64: 20 ms a step (20% of the time)"


def test_where_nothing_is_float64_nothing_is_told_at_any_threshold(profiled):
    assert not list(double_precision(profiled.module("0").written(), min_share=0.0))
