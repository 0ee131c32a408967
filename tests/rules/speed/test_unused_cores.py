"""This file tests the rule on cores left alone, on records written by hand."""

import pytest

from torchmagic.rules.speed.unused_cores import unused_cores


def found(profiled, *, own=0.5, calls=100, **facts):
    run = profiled.operator("addmm", own, calls=calls).within(**{"threads": 1, "cores": 8} | facts).written()
    return list(unused_cores(run))


def test_large_products_on_one_core_of_many_are_told(profiled):
    (one,) = found(profiled)
    assert one.title == "large products take 50 ms a step (50% of the time) on 1 of 8 cores"
    assert "not measured" in one.why


@pytest.mark.parametrize(
    "facts",
    [{"cores": 3}, {"threads": 4}, {"own": 0.39}, {"calls": 10_000}, {"device": "cuda"}],
    ids=["few cores", "half of them used", "little of the time", "small products", "accelerator"],
)
def test_what_gains_little_is_silent(profiled, facts):
    assert not found(profiled, **facts)
