"""A spike stands far above the values before it, in deviations, in times, and beside the first one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from torchmagic.analyses.spikes import WINDOW, spikes


def calm(level=1.0, num=60, seed=0):
    return level * (1 + 0.05 * np.random.default_rng(seed).standard_normal(num))


@given(seed=st.integers(0, 1000), level=st.sampled_from([1e-6, 1.0, 1e4]))
@settings(max_examples=30, deadline=None)
def test_a_calm_loss_has_none(seed, level):
    assert not spikes(calm(level, seed=seed), level).is_high.any()


@pytest.mark.parametrize(("times", "is_spike"), [(2.0, False), (4.0, True), (100.0, True)])
def test_a_value_far_above_the_others_is_one(times, is_spike):
    values = calm()
    values[40] = times
    found = spikes(values, 1.0)
    assert bool(found.is_high[40 - WINDOW]) == is_spike
    assert found.is_high.sum() == is_spike
    assert found.level[40 - WINDOW] == pytest.approx(1, abs=0.05)


def test_a_loss_that_has_come_down_to_nothing_may_jump_about():
    values = calm(1e-3)
    values[40] = 0.05
    assert spikes(values, 1e-3).is_high.any()
    assert not spikes(values, 1.0).is_high.any()


def test_a_loss_below_zero_has_no_level_to_stand_above():
    values = -calm()
    values[40] = 50.0
    assert not spikes(values, -1.0).is_high.any()
