"""This file tests the rule on cores left alone, on records written by hand."""

import pytest

from torchmagic.rules.speed.unused_cores import unused_cores


def found(profiled, *, own=0.5, calls=100, thresholds=None, **facts):
    run = profiled.operator("addmm", own, calls=calls).within(**{"threads": 1, "cores": 8} | facts).written()
    return list(unused_cores(run, **thresholds or {}))


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


@pytest.mark.parametrize(("workers", "fix"), [(0, "(4)"), (4, "(2)"), (6, "(2)"), (7, None), (8, None)])
def test_the_number_advised_is_more_than_there_are_and_leaves_the_workers_theirs(profiled, workers, fix):
    told = found(profiled.loader(0.01, workers=workers))
    assert [f"torch.set_num_threads{fix}" in each.fix for each in told] == ([True] if fix else [])


@pytest.mark.parametrize(
    ("thresholds", "told"),
    [({"min_share": 0.5}, 1), ({"min_share": 0.51}, 0), ({"min_seconds": 0.125}, 1), ({"min_seconds": 0.126}, 0)],
    ids=str,
)
def test_what_is_just_enough_is_told(profiled, thresholds, told):
    assert len(found(profiled, calls=4, thresholds=thresholds)) == told
