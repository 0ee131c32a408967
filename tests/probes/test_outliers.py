"""This file tests when a value is said to stand out from those before it."""

import numpy as np

from torchmagic.probes.outliers import BETWEEN_LOOKS, MOST_LOOKS, NUM_BEFORE, Outliers


def told(values):
    outliers = Outliers()
    return [i for i, value in enumerate(values) if outliers.is_far(value)]


def noisy(count, spread):
    return np.exp(np.random.default_rng(0).normal(0, spread, count)).tolist()


def test_a_spike_among_calm_values_stands_out_alone():
    values = noisy(1000, 0.1)
    values[517] *= 5
    assert told(values) == [517]


def test_a_second_spike_is_not_hidden_by_the_first():
    values = noisy(1000, 0.1)
    values[500] *= 1e6
    values[560] *= 1e6
    assert told(values) == [500, 560]


def test_noise_trends_and_first_values_do_not():
    assert told(noisy(10_000, 0.5)) == []
    assert told([1000 * 0.99**i for i in range(1000)]) == []
    assert told([1.01**i for i in range(1000)]) == []
    assert told([1.0] * (NUM_BEFORE - 1) + [1e9]) == []


def test_a_new_level_is_soon_the_usual_one():
    assert len(told([1.0] * 100 + [10.0] * 1000)) < 20


def test_zeros_are_passed_over():
    values = noisy(200, 0.1)
    values[50] = values[51] = 0.0
    assert told(values) == []


def test_looks_run_out_and_come_back():
    outliers = Outliers()
    assert [outliers.may_look() for _ in range(MOST_LOOKS + 2)] == [True] * MOST_LOOKS + [False] * 2
    for _ in range(BETWEEN_LOOKS):
        outliers.is_far(1.0)
    assert [outliers.may_look() for _ in range(2)] == [True, False]
