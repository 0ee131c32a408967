"""A leak is told from noise, warm-up, jumps and sawtooths by its trend; and each healthy shape is left alone."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from torchmagic.models.leaks import LEAST_GROWTH, LEAST_SAMPLES, MemoryWindow, memory_trend

STEPS = 200
T = np.arange(STEPS)


def noise(rng, deviation):
    return rng.normal(0, deviation, STEPS)


def wandering(rng, persistence, deviation):
    """Noise that stays where it is for a while."""
    values = np.zeros(STEPS)
    for place, push in enumerate(rng.normal(0, deviation, STEPS)):
        values[place] = persistence * values[place - 1] + push if place else push
    return values


def jump(rng, first, last):
    """A hundred MB more from some step on."""
    return np.where(rng.integers(first, last) < T, 100, 0)


# MB that a healthy process takes at each step, from a random number stream.
HEALTHY = {
    "constant": lambda rng: np.full(STEPS, rng.uniform(50, 4000)),
    "noise": lambda rng: 1000 + noise(rng, rng.uniform(1, 50)),
    "noise that persists": lambda rng: 1000 + wandering(rng, 0.9, 10),
    "noise that persists for long": lambda rng: 1000 + wandering(rng, 0.98, 10),
    "walk": lambda rng: 1000 + np.cumsum(noise(rng, 4)),
    "warm-up": lambda rng: 500 * (1 + rng.uniform(0.2, 3) * (1 - np.exp(-T / rng.uniform(3, 30)))) + noise(rng, 2),
    "one jump": lambda rng: 500 + np.where(rng.integers(0, STEPS) < T, rng.uniform(20, 500), 0) + noise(rng, 2),
    "two jumps": lambda rng: 500 + jump(rng, 70, 120) + jump(rng, 140, 190) + noise(rng, 1),
    "sawtooth": lambda rng: 500 + 150 * (((T + rng.integers(99)) % (period := rng.integers(5, 40))) / period),
    "pool that grows five times": lambda rng: 500 + 100 * np.minimum(T // rng.integers(5, 15), 5),
    "greatest use so far": lambda rng: np.maximum.accumulate(1000 + noise(rng, 20)),
    "falling": lambda rng: 1000 - rng.uniform(0.5, 2) * T + noise(rng, 2),
}
# MB of one that leaks 1 MB a step.
LEAKING = {
    "plain": lambda rng: rng.uniform(50, 900) + T,
    "with noise": lambda rng: 500 + T + noise(rng, 10),
    "in stairs": lambda rng: 500 + (step := rng.integers(5, 20)) * (T // step),
    "in a sawtooth": lambda rng: 500 + T + rng.uniform(1, 30) * ((T % (period := rng.integers(4, 15))) / period),
    "after a warm-up": lambda rng: 500 * (1 - np.exp(-T / 10)) + T + noise(rng, 2),
    "with noise that persists": lambda rng: 500 + T + wandering(rng, 0.8, 3),
    "with little noise that persists for long": lambda rng: 500 + T + wandering(rng, 0.99, 0.5),
}
SERIES = 60


def share(make, seed=0):
    rng = np.random.default_rng(seed)
    return sum(memory_trend(T, make(rng)).is_leak for _ in range(SERIES)) / SERIES


@pytest.mark.parametrize("name", HEALTHY)
def test_a_healthy_process_is_left_alone(name):
    assert share(HEALTHY[name]) <= 0.02


@pytest.mark.parametrize("name", LEAKING)
def test_a_steady_leak_of_one_megabyte_a_step_is_found(name):
    assert share(LEAKING[name]) >= 0.95


@pytest.mark.parametrize("name", [name for name in HEALTHY if name != "walk"])
def test_a_healthy_process_is_left_alone_however_often_it_is_looked_at(name):
    rng, alarms = np.random.default_rng(1), 0
    for _ in range(20):
        window = MemoryWindow()
        alarmed = False
        for step, amount in enumerate(HEALTHY[name](rng)):
            window.add(step, amount)
            alarmed = alarmed or (step % 25 == 24 and bool(window.trend()))
        alarms += alarmed
    assert alarms <= 1


@given(
    slope=st.floats(0.01, 1e3),
    level=st.floats(0, 1e4),
    unit=st.sampled_from([1.0, 2.0**20, 1e-3]),
    gap=st.integers(1, 50),
)
@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_of_steady_growth_the_slope_is_told_in_any_unit(slope, level, unit, gap):
    steps = np.arange(100) * gap
    trend = memory_trend(steps, unit * (level + slope * steps))
    assert trend.slope == pytest.approx(unit * slope, rel=1e-6)
    assert trend.is_leak == (trend.growth > LEAST_GROWTH * np.median(unit * (level + slope * steps[33:])))


@given(seed=st.integers(0, 10_000), factor=st.sampled_from([1e-6, 1024.0, 2.0**20]))
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_the_verdict_does_not_depend_on_the_unit(seed, factor):
    amounts = LEAKING["with noise"](np.random.default_rng(seed))
    assert memory_trend(T, amounts).is_leak == memory_trend(T, amounts * factor).is_leak


@given(seed=st.integers(0, 10_000), name=st.sampled_from(sorted(LEAKING)))
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_what_leaks_forwards_does_not_leak_backwards(seed, name):
    amounts = LEAKING[name](np.random.default_rng(seed))
    assert not memory_trend(T, amounts[::-1]).is_leak


def test_a_few_broken_samples_do_not_matter():
    amounts = 500 + T.astype(float)
    amounts[::17] = np.nan
    amounts[5::40] = 1e6
    trend = memory_trend(T, amounts)
    assert trend.is_leak
    assert trend.slope == pytest.approx(1, rel=0.05)


@pytest.mark.parametrize("count", [0, 1, LEAST_SAMPLES])
def test_of_too_few_samples_nothing_is_said(count):
    trend = memory_trend(range(count), [float(each) for each in range(count)])
    assert not trend
    assert "too few" in trend.reason


def test_samples_of_one_step_say_nothing():
    assert not memory_trend([7] * 100, range(100))


def test_the_reason_is_told():
    rng = np.random.default_rng(0)
    assert memory_trend(T, HEALTHY["falling"](rng)).reason == "it does not grow"
    assert "levels off" in memory_trend(T, 100 * np.log1p(T)).reason
    resting = 500.0 + np.where(T < 100, T, np.maximum(100, T - 50))
    assert memory_trend(T, resting).reason == "it grows only part of the time"
    assert memory_trend(T, 500 + 0.2 * T + np.where(T > 130, 80, 0)).reason == "it jumped once"
    assert memory_trend(T, np.full(STEPS, 500.0)).reason == "it does not grow"
    assert memory_trend(T, 5000 + 0.05 * T).reason == "it hardly grows"
    assert memory_trend(T, 500.0 + T).reason == "it grows steadily and does not level off"


def test_a_window_is_bounded_and_can_be_emptied():
    window = MemoryWindow(most=50)
    for step in range(1000):
        window.add(step, 1.0)
    assert len(window) == 50
    window.clear()
    assert len(window) == 0
    assert not window.trend()


def test_a_leak_that_begins_late_is_found_and_one_that_ended_is_forgotten():
    window = MemoryWindow(most=100)
    for step in range(200):
        window.add(step, 500.0)
    assert not window.trend()
    for step in range(200, 300):
        window.add(step, 500.0 + step - 200)
    assert window.trend()
    for step in range(300, 400):
        window.add(step, 600.0)
    assert not window.trend()


def test_wrong_arguments_are_refused_in_one_line():
    with pytest.raises(ValueError, match="as many steps as amounts"):
        memory_trend([1, 2], [1.0])
    with pytest.raises(ValueError, match="warm_up is a share"):
        memory_trend([1], [1.0], warm_up=1.0)
