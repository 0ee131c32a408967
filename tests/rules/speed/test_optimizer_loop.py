"""This file tests the rule on optimizers' loops, on records written by hand."""

import pytest

from torchmagic.records.speed import StepRecord, VerifiedRecord
from torchmagic.rules.speed.optimizer_loop import optimizer_loop


def optimizer(at, **changes):
    facts = {"optimizer": "opt", "class_name": "AdamW", "built_in": True, "parameters": 60, "elements": 6000,
             "median_elements": 100, "device": "cpu", "foreach": None, "fused": None, "can_fuse": True,
             "place": at("opt.step()")}  # fmt: skip
    return StepRecord(**facts | changes)


def looping(profiled, seconds=0.3, calls=6000):
    return profiled.phase(optimizer=seconds).operator("mul_", seconds, phase="optimizer", calls=calls)


def tried(after):
    return VerifiedRecord(cure="fused", subject="opt", what="step", trials=9, before=0.03, after=after, spread=0.01)


def test_a_loop_on_a_processor_is_told(profiled, at):
    (found,) = optimizer_loop(looping(profiled).add(optimizer(at)).written())
    assert found.title == "opt takes 30 ms a step (30% of the time), one parameter after the other"
    assert (found.optimizer, found.source) == ("opt", "opt.step()")
    assert found.fix == "torch.optim.AdamW(..., fused=True)"
    assert found.evidence["operators a step"] == 600


def test_what_was_measured_is_quoted(profiled, at):
    (found,) = optimizer_loop(looping(profiled).add(optimizer(at), tried(0.01)).written())
    assert found.title.endswith("; fused=True makes it 3.0x as fast, as measured")


def test_a_cure_that_gained_nothing_is_silent(profiled, at):
    assert not list(optimizer_loop(looping(profiled).add(optimizer(at), tried(0.03)).written()))


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"fused": True}, 0),
        ({"foreach": True}, 0),
        ({"foreach": False}, 1),
        ({"device": "cuda:0"}, 0),
        ({"device": "cuda:0", "foreach": False}, 1),
        ({"device": "cuda:0", "built_in": False}, 1),
        ({"parameters": 9}, 0),
    ],
    ids=str,
)
def test_who_loops_and_who_does_not(profiled, at, changes, told):
    assert len(list(optimizer_loop(looping(profiled).add(optimizer(at, **changes)).written()))) == told


def test_a_class_of_ones_own_is_told_what_to_call(profiled, at):
    own = optimizer(at, built_in=False, can_fuse=False)
    assert "torch._foreach_" in next(optimizer_loop(looping(profiled).add(own).written())).fix


def test_a_small_part_of_the_time_is_silent(profiled, at):
    assert not list(optimizer_loop(looping(profiled, seconds=0.14).add(optimizer(at)).written()))


def test_few_operators_a_parameter_are_no_loop(profiled, at):
    assert not list(optimizer_loop(looping(profiled, calls=1000).add(optimizer(at)).written()))


def test_two_optimizers_of_which_each_steps_in_turn_are_counted_as_one(profiled, at):
    records = optimizer(at), optimizer(at, optimizer="opt_d", parameters=20)
    assert len(list(optimizer_loop(looping(profiled, calls=900).add(*records).written()))) == 1
