"""This file tests where curves end, and which of their differences count."""

import math

import numpy as np
import pytest

from torchmagic.analyses.endings import are_apart, ending, equal_for, loss_ending
from torchmagic.session.run import Run


def noisy(level, *, scatter, count=200, seed=0):
    return list(np.random.default_rng(seed).normal(level, scatter, count))


def run_of(values, metric="loss", subject="loss"):
    run = Run()
    for step, value in enumerate(values):
        run.frame(metric, (subject,)).append(step, (value,))
    run.steps = len(values)
    return run


def test_an_end_is_a_mean_of_the_last_values_and_not_the_last_one():
    end = ending([1.0] * 99 + [50.0])
    assert (end.width, end.mean) == (10, pytest.approx(5.9))


def test_the_scatter_is_that_of_single_values_whatever_the_trend():
    falling = [100 - 0.5 * i + value for i, value in enumerate(noisy(0, scatter=0.1))]
    assert ending(falling).scatter == pytest.approx(0.1, rel=0.6)
    assert ending([100 - 0.5 * i for i in range(200)]).scatter == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("seed", range(20))
def test_two_draws_of_the_same_noise_are_not_apart(seed):
    one, other = (ending(noisy(1.0, scatter=0.2, seed=each)) for each in (seed, seed + 100))
    assert are_apart(one, other) is False


def test_ends_further_apart_than_the_noise_are_apart():
    assert are_apart(ending(noisy(1.0, scatter=0.05)), ending(noisy(2.0, scatter=0.05, seed=1))) is True


def test_a_difference_that_both_curves_outscatter_is_none_however_sure_the_means_are():
    one, other = (ending(noisy(level, scatter=0.5, count=20_000, seed=level)) for level in (1, 2))
    assert abs(one.mean - other.mean) > 10 * one.error
    assert are_apart(one, other) is True
    near = ending([value - 0.8 for value in noisy(2, scatter=0.5, count=20_000, seed=2)])
    assert abs(one.mean - near.mean) > 5 * one.error
    assert are_apart(one, near) is False


def test_of_short_curves_the_means_are_too_unsure_for_a_small_difference():
    values = noisy(1.0, scatter=0.1, count=16)
    one = ending(values)
    assert are_apart(one, ending([value + 1.5 * one.scatter for value in values])) is False
    assert are_apart(one, ending([value + 3.0 * one.scatter for value in values])) is True


def test_curves_without_noise_differ_from_one_percent_on():
    assert are_apart(ending([1.0] * 20), ending([1.005] * 20)) is False
    assert are_apart(ending([1.0] * 20), ending([1.02] * 20)) is True


def test_of_few_values_nothing_is_said():
    assert are_apart(ending([1.0] * 5), ending([9.0] * 5)) is None


def test_a_loss_that_is_no_longer_finite_ends_before_that():
    end = loss_ending(run_of([2.0] * 10 + [math.nan, math.inf]))
    assert (end.mean, end.broken) == (2.0, True)
    assert are_apart(end, ending([1.0] * 20)) is None


def test_no_loss_has_no_end():
    assert loss_ending(Run()).width == 0
    assert math.isnan(loss_ending(Run()).mean)


def test_runs_are_equal_up_to_the_first_bit_that_differs():
    values = [1.0, 0.5, math.nan, 0.25]
    assert equal_for(run_of(values), run_of(values), "loss") == (4, 4)
    assert equal_for(run_of(values), run_of([*values[:3], math.nextafter(0.25, 1)]), "loss") == (3, 4)
    assert equal_for(run_of([1.0]), run_of([1.0000001]), "loss", tolerance=1e-5) == (1, 1)


def test_only_steps_that_both_runs_looked_at_are_compared():
    one, other = Run(), Run()
    for step in range(10):
        one.frame("grad_norm", ("",)).append(step, (float(step),))
    for step in (0, 4, 20):
        other.frame("grad_norm", ("",)).append(step, (float(step),))
    assert equal_for(one, other, "grad_norm") == (2, 2)
    assert equal_for(one, Run(), "grad_norm") is None


def test_several_losses_in_one_step_are_all_compared():
    one, other = run_of([1.0, 2.0]), run_of([1.0, 2.0])
    other.frame("loss", ("loss",)).append(1, (3.0,))
    assert equal_for(one, other, "loss") == (1, 2)
