"""This file tests by how much a loss has improved, and how far chance may account for it."""

import math

import pytest

from torchmagic.analyses.improvement import improvement, noise_of_improvement
from torchmagic.session.run import Run


def run_of(losses):
    run = Run()
    for step, loss in enumerate(losses):
        run.frame("loss", ("loss",)).append(step, (loss,))
    return run


def test_the_means_of_both_ends_are_compared():
    assert improvement(run_of([2.0] * 8 + [1.0] * 8)) == pytest.approx(0.5)
    assert improvement(run_of([1.0] * 8 + [2.0] * 8)) == pytest.approx(-1.0)
    assert improvement(run_of([2.0] * 8 + [1.0] * 92)) == pytest.approx(0.8 / 1.8)


def test_the_beginning_may_be_left_out():
    assert improvement(run_of([9.0] * 16 + [2.0] * 8 + [1.0] * 8), since=0.5) == pytest.approx(0.5)


def test_without_a_loss_nothing_is_known_and_from_nothing_there_is_no_share():
    assert math.isnan(improvement(run_of([])))
    assert math.isnan(improvement(run_of([math.nan] * 9)))
    assert improvement(run_of([0.0] * 16)) == 0.0


def test_a_calm_loss_has_no_noise_and_a_swinging_one_has():
    assert noise_of_improvement(run_of([2.0] * 16)) == 0.0
    swings = noise_of_improvement(run_of([2.0, 2.2] * 8))
    assert swings == pytest.approx(1.4826 * 0.2 / math.sqrt(8) / 2.1, rel=1e-3)


def test_a_short_loss_and_one_around_zero_have_no_noise_to_tell():
    assert noise_of_improvement(run_of([2.0, 9.0] * 3)) == 0.0
    assert noise_of_improvement(run_of([2.0, 9.0] * 4)) > 0.0
    assert noise_of_improvement(run_of([1.0, -1.0] * 8)) == 0.0
    assert noise_of_improvement(run_of([0.0, 2.0] * 8)) > 0.0
