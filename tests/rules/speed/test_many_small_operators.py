"""This file tests the rule on small operators, on records written by hand."""

from torchmagic.records.compilation import CompilationRecord
from torchmagic.records.model import ModelRecord
from torchmagic.rules.speed.many_small_operators import many_small_operators


def small(profiled, seconds=0.3, calls=1200):
    profiled.operator("mul", seconds / 2, calls=calls // 2, module="net.norm")
    return profiled.operator("gelu_backward", seconds / 2, calls=calls // 2, phase="backward")


def test_many_of_them_are_told_with_their_share(profiled):
    (found,) = many_small_operators(small(profiled).model().written())
    assert found.title == "120 operators a step that work value by value take 30 ms a step (30% of the time)"
    assert found.module == "net.norm"
    assert found.fix.startswith("net = torch.compile(net)")
    assert "not measured" in found.why


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
