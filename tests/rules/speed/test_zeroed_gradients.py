"""This file tests the rule on zeroed gradients, on records written by hand."""

import pytest

from torchmagic.records.costs import OperatorCost
from torchmagic.records.speed import StepRecord, ZeroedRecord
from torchmagic.rules.speed.zeroed_gradients import zeroed_gradients

STEP = StepRecord(
    optimizer="opt", class_name="SGD", built_in=True, parameters=4, elements=8, median_elements=2, device="cpu",
    foreach=None, fused=None, can_fuse=True, place=None,
)  # fmt: skip


def found(profiled, at, seconds=0.05, phase="optimizer", *, looks=4, zeroed=4, **thresholds):
    profiled.operator("zero_", 0.001, phase=phase).operator("fill_", seconds - 0.001, phase=phase)
    line = at("opt.zero_grad(set_to_none=False)")
    run = profiled.add(ZeroedRecord(optimizer="opt", looks=looks, zeroed=zeroed, place=line)).written()
    return list(zeroed_gradients(run, **thresholds))


def test_the_line_and_its_cost_are_told(profiled, at):
    (one,) = found(profiled, at)
    told = "filling gradients with zeros and adding to them takes 5.0 ms a step (5% of the time)"
    assert one.title == f"{told}; saves up to all of that"
    assert (one.source, one.optimizer) == ("opt.zero_grad(set_to_none=False)", "opt")


@pytest.mark.parametrize(("calls", "share"), [(40, "15.0%"), (80, "5.0%")], ids=["one backward", "accumulation"])
def test_adding_to_zeros_counts_unless_passes_are_added_up(profiled, at, calls, share):
    profiled.operators.append(
        OperatorCost(name="torch::autograd::AccumulateGrad", phase="backward", calls=calls, total=0.1, own=0.01)
    )
    profiled.add(STEP)
    assert found(profiled, at)[0].evidence["share of the time"] == share


@pytest.mark.parametrize(
    "facts",
    [{"seconds": 0.029}, {"seconds": 0.3, "phase": "forward"}, {"zeroed": 3}, {"looks": 1, "zeroed": 1}],
    ids=["cheap", "zeros of the model's", "only sometimes", "seen once"],
)
def test_what_is_cheap_or_something_else_is_silent(profiled, at, facts):
    assert not found(profiled, at, **facts)


def test_two_looks_are_enough(profiled, at):
    assert found(profiled, at, looks=2, zeroed=2)


@pytest.mark.parametrize(("share", "told"), [(0.25, 1), (0.26, 0)])
def test_a_share_that_is_just_enough_is_told(profiled, at, share, told):
    profiled.operator("_foreach_zero_", 0.125, phase="other")
    assert len(found(profiled, at, seconds=0.125, min_share=share)) == told
