"""This file tests the rule on small operators, on records written by hand."""

import pytest

from torchmagic.records.compilation import CompilationRecord
from torchmagic.records.model import ModelRecord
from torchmagic.records.speed import VerifiedRecord
from torchmagic.rules.speed.many_small_operators import many_small_operators


def small(profiled, seconds=0.3, calls=1200):
    profiled.operator("mul", seconds / 2, calls=calls // 2, module="net.norm")
    return profiled.operator("gelu_backward", seconds / 2, calls=calls // 2, phase="backward")


def test_many_of_them_are_told_with_their_share(profiled):
    (found,) = many_small_operators(small(profiled).model().written())
    assert found.title == "120 operators a step that work value by value take 30 ms a step (30% of the time)"
    assert found.module == "net.norm"
    assert found.fix.startswith("net = torch.compile(net)")
    assert found.why == (
        "Each reads and writes all its values for one small operation; a compiler makes one loop of several. "
        "What that saves here was not measured."
    )


def test_few_calls_and_small_shares_are_silent(profiled):
    assert not list(many_small_operators(small(profiled, calls=990).written()))


def test_a_small_share_is_silent(profiled):
    assert not list(many_small_operators(small(profiled, seconds=0.19).written()))


def test_those_of_the_optimizer_do_not_count(profiled):
    assert not list(many_small_operators(profiled.operator("mul_", 0.5, calls=9000, phase="optimizer").written()))


def test_what_is_compiled_is_silent(profiled):
    assert not list(many_small_operators(small(profiled).model(compiled=True).written()))


def test_a_compiled_function_is_silent(profiled):
    assert not list(
        many_small_operators(
            small(profiled).add(CompilationRecord(seconds=1.0, run_seconds=10.0, functions=())).written()
        )
    )


def test_a_model_known_as_compiled_is_silent(profiled):
    known = ModelRecord(name="net", class_name="N", num_parameters=1, num_trainable=1, num_bytes=4, compiled=True)
    assert not list(many_small_operators(small(profiled).add(known).written()))


def compiled(after, spread=0.01):
    return VerifiedRecord(
        cure="compile", subject="net", what="forward and backward", trials=9, before=0.1, after=after, spread=spread,
        preparation=30.0,
    )  # fmt: skip


def test_what_compiling_gained_is_quoted_with_its_price_and_what_it_saves(profiled):
    run = small(profiled).model().module("", forward=0.3, backward=0.5).add(compiled(0.04)).written()
    (found,) = many_small_operators(run)
    assert "compiled it is 2.5x as fast, as measured; saves up to 48 ms a step (48% of the time)" in found.title
    assert "Compiling took 30 s, which 500 passes forward and backward win back." in found.why
    assert (found.confidence, found.evidence["saves"]) == (0.9, 0.48)


def test_a_copy_that_ran_no_faster_compiled_is_silent(profiled):
    assert not list(many_small_operators(small(profiled).model().add(compiled(0.098)).written()))
    assert not list(many_small_operators(small(profiled).add(compiled(0.095, spread=0.1)).written()))


def test_what_is_not_tried_is_less_certain_and_named_without_a_module(profiled):
    (found,) = many_small_operators(profiled.operator("mul", 0.3, calls=2000).written())
    assert (found.confidence, found.module) == (0.55, None)
    assert found.fix.startswith("model = torch.compile(model)")


def test_a_gain_within_its_uncertainty_is_silent(profiled):
    measured = VerifiedRecord(
        cure="compile", subject="net", what="forward and backward", trials=9, before=0.1, after=0.0945, spread=0.04
    )
    run = profiled.model().operator("mul", 0.3, calls=2000).add(measured).written()
    assert not list(many_small_operators(run))


@pytest.mark.parametrize(("calls", "told"), [(320, []), (319, ["h = gelu(h)"])])
def test_operators_of_a_loop_in_python_are_left_out(profiled, at, calls, told):
    looped = at("h = gelu(h)", "forward", line=1)
    profiled.line(looped.source, calls=calls, function="forward")
    profiled.operator("gelu", 0.3, calls=2000, place=looped).operator("mul", 0.1, calls=1000, place=at("x = x * y"))
    assert [found.source for found in many_small_operators(profiled.model().written())] == told


@pytest.mark.parametrize(("calls", "told"), [(1000, 1), (999, 0)])
def test_a_hundred_calls_a_step_are_many(profiled, calls, told):
    assert len(list(many_small_operators(profiled.operator("mul", 0.3, calls=calls).written()))) == told


@pytest.mark.parametrize(("thresholds", "told"), [({}, 1), ({"min_share": 0.51}, 0), ({"min_gain": 0.51}, 0)], ids=str)
def test_what_is_just_enough_is_told(profiled, thresholds, told):
    halved = VerifiedRecord(cure="compile", subject="net", what="forward", trials=9, before=0.5, after=0.25, spread=0.0)
    run = profiled.model().operator("mul", 0.5, calls=2000).add(halved).written()
    assert len(list(many_small_operators(run, **{"min_share": 0.5, "min_gain": 0.5} | thresholds))) == told
