"""This file tests the rule on optimizers' loops, on records written by hand."""

import pytest

from torchmagic.records.costs import OperatorCost
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
    assert "saves" not in found.evidence
    assert (found.optimizer, found.source) == ("opt", "opt.step()")
    assert found.fix == "torch.optim.AdamW(..., fused=True)"
    assert found.evidence["operators a step"] == 600


def test_what_was_measured_is_quoted(profiled, at):
    (found,) = optimizer_loop(looping(profiled).add(optimizer(at), tried(0.01)).written())
    assert found.title == (
        "opt takes 30 ms a step (30% of the time), one parameter after the other; "
        "fused=True makes it 3.0x as fast, as measured; saves up to 20 ms a step (20% of the time)"
    )
    assert found.evidence["saves"] == 0.2


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
        ({"parameters": 10}, 1),
    ],
    ids=str,
)
def test_who_loops_and_who_does_not(profiled, at, changes, told):
    assert len(list(optimizer_loop(looping(profiled).add(optimizer(at, **changes)).written()))) == told


def test_a_class_of_ones_own_is_told_what_to_call(profiled, at):
    own = optimizer(at, built_in=False, can_fuse=False)
    assert next(optimizer_loop(looping(profiled).add(own).written())).fix.startswith("torch._foreach_add_(parameters,")


def test_a_small_part_of_the_time_is_silent(profiled, at):
    assert not list(optimizer_loop(looping(profiled, seconds=0.14).add(optimizer(at)).written()))


def test_few_operators_a_parameter_are_no_loop(profiled, at):
    assert not list(optimizer_loop(looping(profiled, calls=1000).add(optimizer(at)).written()))


def test_two_optimizers_of_which_each_steps_in_turn_are_counted_as_one(profiled, at):
    records = optimizer(at), optimizer(at, optimizer="opt_d", parameters=20)
    assert len(list(optimizer_loop(looping(profiled, calls=900).add(*records).written()))) == 1


@pytest.mark.parametrize("changes", [{"window": {"steps": 0}}, {"records": ()}], ids=["no steps", "no optimizer"])
def test_without_steps_of_an_optimizer_nothing_is_told(profiled, at, changes):
    looping(profiled).within(**changes.get("window", {})).add(*changes.get("records", (optimizer(at),)))
    assert not list(optimizer_loop(profiled.written()))


def test_what_was_measured_is_surer_and_told(profiled, at):
    plain, after = (list(optimizer_loop(_written(profiled, at, *more))) for more in ((), (tried(0.02),)))
    assert [found.confidence for found in (*plain, *after)] == [0.75, 0.9]
    assert after[0].evidence["step after"] == "20 ms"


def _written(profiled, at, *more):
    kept = type(profiled)()
    return looping(kept).add(optimizer(at), *more).written()


def test_a_gain_within_its_uncertainty_is_silent(profiled, at):
    assert not list(optimizer_loop(looping(profiled).add(optimizer(at), tried(0.0289)).written()))


@pytest.mark.parametrize("name", ["empty_like", "to", "_to_copy", "mul"])
def test_what_only_makes_or_moves_tensors_is_no_operator_of_the_loop(profiled, at, name):
    profiled.phase(optimizer=0.3).operator(name, 0.1, phase="optimizer", calls=1500)
    profiled.operators.append(OperatorCost(name="Optimizer.step", phase="optimizer", calls=9000, total=0.1, own=0.1))
    profiled.operator("mul_", 0.3, phase="backward", calls=9000)
    assert len(list(optimizer_loop(profiled.add(optimizer(at)).written()))) == (name == "mul")


@pytest.mark.parametrize(("calls", "told"), [(1200, 1), (1199, 0)])
def test_two_operators_a_parameter_are_a_loop(profiled, at, calls, told):
    assert len(list(optimizer_loop(looping(profiled, calls=calls).add(optimizer(at)).written()))) == told


@pytest.mark.parametrize(
    ("thresholds", "told"),
    [({"min_share": 0.25, "min_gain": 0.5}, 1), ({"min_share": 0.26}, 0), ({"min_share": 0.25, "min_gain": 0.51}, 0)],
    ids=str,
)
def test_what_is_just_enough_is_told(profiled, at, thresholds, told):
    halved = VerifiedRecord(cure="fused", subject="opt", what="step", trials=9, before=0.5, after=0.25, spread=0.0)
    run = looping(profiled, seconds=0.25).add(optimizer(at), halved).written()
    assert len(list(optimizer_loop(run, **thresholds))) == told
