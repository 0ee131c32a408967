"""What is usual decides which norms are out of proportion, and when small ones are lost on their way."""

import math

import pytest

from torchmagic.api.debugging.usual_training import UsualTraining


def after(losses):
    usual = UsualTraining()
    for loss in losses:
        usual.spike(loss)
    return usual


FLAT, FALLING = [1.0] * 20, [0.9**step for step in range(20)]


def test_small_gradients_are_lost_where_the_loss_stands_still():
    assert after(FLAT).vanishes([1e-9, 1e-3])
    assert not after(FALLING).vanishes([1e-9, 1e-3])


@pytest.mark.parametrize("norms", [[], [1.0, 2.0], [0.0, 1.0], [1e-9] + [1.0] * 20])
def test_gradients_of_usual_size_unused_weights_and_one_of_many_are_not(norms):
    assert not after(FLAT).vanishes(norms)


def test_near_a_loss_of_zero_all_gradients_are_small():
    assert not after([1e-12] * 20).vanishes([1e-7, 1e-7])
    assert not after([0.0] * 20).vanishes([0.0, 0.0])


@pytest.mark.parametrize(
    ("losses", "explodes"), [(FLAT, False), (FALLING, False), ([1.0] * 10 + [5.0], True), ([], False)]
)
def test_a_large_norm_explodes_where_the_loss_gets_worse(losses, explodes):
    assert after(losses).explodes(1e5) == explodes


def test_a_norm_far_above_those_before_it_explodes_though_the_loss_does_not_rise():
    usual = after(FALLING)
    assert not any(usual.explodes(2e3 + step) for step in range(30))
    assert usual.explodes(1e6)


def test_a_norm_that_is_not_finite_explodes():
    assert after(FALLING).explodes(math.nan)


def test_a_spike_tells_the_level_that_it_stands_above():
    usual = after([1.0 + 0.01 * (step % 3) for step in range(30)])
    assert usual.spike(50.0) == pytest.approx(1.01, abs=0.02)
    assert usual.spike(1.0) is None
    assert usual.spike(math.nan) is None
