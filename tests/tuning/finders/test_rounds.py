"""Settings timed in rounds by clocks that are made up: which one is taken, and when to stop."""

import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from torchmagic.tuning.finders.deadline import Deadline, TimeIsUpError
from torchmagic.tuning.finders.rounds import APART, FEWEST_ROUNDS, LOOKS, Timed, are_apart, in_rounds, preferred
from torchmagic.tuning.measure import SMALLEST_GAIN


class Machine:
    """Runs settings on a busy machine: noise, a slow drift, spikes; a trial takes what it says."""

    def __init__(self, factors, seed=0, *, noise=0.1, clock=None):
        self._chance, self._noise, self.done, self.clock = random.Random(seed), noise, [], clock  # noqa: S311 - no secret
        self.trials = [lambda i=i, factor=factor: self._run(i, factor) for i, factor in enumerate(factors)]

    def _run(self, i, factor):
        self.done.append(i)
        if not self._noise:
            load = 1.0
        else:
            load = 1 + 0.3 * math.sin(len(self.done) / 20) + (2 if self._chance.random() < 0.05 else 0)
        seconds = factor * load * self._chance.lognormvariate(0, self._noise)
        if self.clock is not None:
            self.clock.work(seconds)
        return seconds


def chosen(factors, seed=0, *, noise=0.1, seconds=1e9):
    machine = Machine(factors, seed, noise=noise)
    return preferred(in_rounds(machine.trials, Deadline(seconds)), range(len(factors)))


def test_of_equal_settings_the_first_is_taken_in_nineteen_of_twenty():
    found = [chosen([1.0] * 6, seed) for seed in range(120)]
    assert found.count(0) >= 114


def test_a_gain_too_small_is_no_gain():
    found = [chosen([1.0, 1 / (1 + SMALLEST_GAIN / 2)], seed) for seed in range(100)]
    assert found.count(0) >= 95


def test_a_clear_gain_wins_and_costs_few_rounds():
    machines = [Machine([3.0, 1.0, 2.9], seed) for seed in range(100)]
    found = [preferred(in_rounds(each.trials, Deadline(1e9)), range(3)) for each in machines]
    assert found.count(1) >= 98
    assert sorted(len(each.done) for each in machines)[50] <= 3 * LOOKS[0]


def test_a_gain_of_a_half_wins():
    found = [chosen([1.5, 1.0], seed) for seed in range(100)]
    assert found.count(1) >= 95


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(0.05, 20), min_size=2, max_size=9))
def test_without_noise_the_first_within_the_smallest_gain_of_the_fastest_is_taken(factors):
    within = [i for i, each in enumerate(factors) if each <= (1 + SMALLEST_GAIN) * min(factors) * (1 - 1e-12)]
    edge = [each for each in factors if abs(each / min(factors) - 1 - SMALLEST_GAIN) < 1e-9]
    if not edge:
        assert chosen(factors, noise=0.0) == within[0]


def test_the_order_of_preference_is_not_that_of_the_rows():
    timed = [Timed(times=(1.0,) * 9), Timed(times=(1.0,) * 9), Timed(times=(9.0,) * 9, is_slower=True)]
    assert preferred(timed, [2, 1, 0]) == 1


def test_every_other_round_goes_backwards():
    machine = Machine([1.0, 1.0, 1.0], noise=0.0)
    in_rounds(machine.trials, Deadline(1e9))
    assert machine.done[:9] == [0, 1, 2, 2, 1, 0, 0, 1, 2]


def test_what_is_far_slower_is_timed_three_times_only():
    machine = Machine([5.0, 1.0, 1.0], noise=0.0)
    found = in_rounds(machine.trials, Deadline(1e9))
    assert [len(each.times) for each in found] == [3, LOOKS[0], LOOKS[0]]
    assert [each.is_slower for each in found] == [True, False, False]


@pytest.mark.parametrize("limit", [0.3, 1.0, 4.0, 20.0, 60.0])
def test_no_round_is_begun_for_which_there_is_no_time_and_rounds_are_whole(clock, limit):
    machine = Machine([1.0, 1.1, 0.9, 4.0], noise=0.0, clock=clock)
    begin = clock.now
    found = in_rounds(machine.trials, Deadline(limit, clock))
    # what the first trials take, 7 s together, is not known before
    assert clock.now - begin <= (limit if limit > 7 else limit + 4.0)
    left = [len(each.times) for each in found if not each.is_slower and each.times]
    assert max(left) - min(left) == 0
    assert [bool(each.failure) for each in found] == [not each.times for each in found]


def test_a_round_that_was_cut_short_counts_for_nobody(clock):
    begun = []

    def trial():
        begun.append(1)
        if len(begun) == 11:
            raise TimeIsUpError
        return 1.0

    found = in_rounds([trial, trial, trial], Deadline(100.0, clock))
    assert [len(each.times) for each in found] == [3, 3, 3]
    found = in_rounds([trial, trial], Deadline(100.0, clock))
    assert preferred(found, [0, 1]) == 0


def test_with_too_few_rounds_nothing_is_told(clock):
    few = Timed(times=(1.0,) * (FEWEST_ROUNDS - 1))
    assert preferred([few, few], [0, 1]) is None
    assert preferred([few, Timed(times=(9.0,) * 3, is_slower=True)], [0, 1]) == 0
    assert preferred([Timed(times=(1.0,) * 20)], [0]) is None
    assert preferred([Timed(times=(1.0,) * 20), Timed(failure="no")], [0, 1]) is None
    found = in_rounds(Machine([1.0, 1.0], noise=0.0, clock=clock).trials, Deadline(5.0, clock))
    assert preferred(found, [0, 1]) is None


def test_what_looks_slower_is_not_kept_for_want_of_rounds():
    first, other = (1.0, 1.5, 0.7, 1.4, 1.3, 1.2), (0.8, 0.9, 1.0, 0.7, 0.6, 1.6)
    found = [Timed(times=first), Timed(times=other)]
    assert preferred(found, [0, 1]) is None
    assert preferred(found, [1, 0]) == 1
    assert preferred([Timed(times=first * 3), Timed(times=other * 3)], [0, 1]) == 0


def test_a_setting_that_fails_is_told_and_the_others_go_on():
    calls = []

    def broken():
        calls.append(1)
        if len(calls) == 2:
            raise KeyError("gone")
        return 0.5

    found = in_rounds([*Machine([1.0, 2.0], noise=0.0).trials, broken], Deadline(1e9))
    assert found[2].failure == "KeyError: 'gone'"
    assert preferred(found, [2, 1, 0]) == 0
    assert in_rounds([lambda: 1 / 0], Deadline(1.0))[0].failure == "ZeroDivisionError: division by zero"


def test_ctrl_c_is_the_users(clock):
    def stop():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        in_rounds([stop], Deadline(1.0, clock))


def test_apart_needs_all_times_of_enough_rounds():
    for number, factor in APART:
        assert are_apart([1.01 * factor] * number, [1.0] * number)
        assert not are_apart([1.01 * factor] * (number - 1), [1.0] * (number - 1))
        assert not are_apart([0.99 * factor] * number, [1.0] * number)
    assert not are_apart([2.0] * 4 + [1.0], [1.0] * 5)


@pytest.mark.parametrize("seconds", [0, -1, math.nan, math.inf, "10", None, True])
def test_a_time_limit_is_a_number_of_seconds(seconds):
    with pytest.raises(ValueError, match=r"time_limit=.*wanted seconds, more than 0"):
        Deadline(seconds)
