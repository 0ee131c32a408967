"""How two ways are timed and told apart, by clocks that are made up."""

import math
import random

import pytest

from torchmagic.tuning.measure import Pairs, in_turns, speedup, spread


def noisy(seed, number, *, factor=1.0, second=1.0):
    """Return pairs as a busy machine gives them: noise, a slow drift, spikes, and an edge for who is second."""
    chance = random.Random(seed)  # noqa: S311 - no secret
    pairs = ([], [])
    for i in range(number):
        load = 1 + 0.3 * math.sin(i / 7) + (2 if chance.random() < 0.05 else 0)
        for place, which in enumerate((0, 1) if i % 2 == 0 else (1, 0)):
            base = load * chance.lognormvariate(0, 0.1) * (second if place else 1)
            pairs[which].append(base / (factor if which else 1))
    return Pairs(reference=tuple(pairs[0]), candidate=tuple(pairs[1]))


def share(verdict, number=24, **fields):
    return sum(speedup(noisy(seed, number, **fields)).verdict == verdict for seed in range(200)) / 200


def test_a_way_against_itself_is_no_difference_in_far_more_than_nineteen_of_twenty():
    assert share("no difference") >= 0.98
    assert share("no difference", number=200) >= 0.98


def test_being_second_is_nobodys_advantage():
    assert share("no difference", number=100, second=0.7) >= 0.98


def test_a_clear_gain_and_a_clear_loss_are_told():
    assert share("faster", factor=1.5) >= 0.95
    assert share("slower", factor=1 / 1.5) >= 0.95


def test_the_interval_covers_the_true_factor_as_often_as_is_promised():
    found = [speedup(noisy(seed, 40, factor=1.3)) for seed in range(300)]
    assert sum(each.low <= 1.3 <= each.high for each in found) / 300 >= 0.97


def test_a_gain_too_small_to_tell_from_where_the_copies_lie_is_no_difference():
    pairs = Pairs(reference=(1.02,) * 100, candidate=(1.0,) * 100)
    found = speedup(pairs)
    assert found.factor == pytest.approx(1.02)
    assert found.verdict == "no difference"


def test_of_few_steps_nothing_is_told():
    found = speedup(Pairs(reference=(2.0,) * 14, candidate=(1.0,) * 14))
    assert (found.factor, found.low, found.high) == (2.0, 0.0, math.inf)
    assert found.verdict == "no difference"
    assert speedup(Pairs(reference=(2.0,) * 16, candidate=(1.0,) * 16)).verdict == "faster"
    assert speedup(Pairs(reference=(), candidate=())).verdict == "no difference"


def test_the_edges_are_those_of_wilcoxons_table():
    # n = 8 and 10 observations, two-sided 95%: the fourth and the ninth of the ordered means from each end.
    for number, edge in ((8, 4), (10, 9)):
        ratios = [math.exp(2.0**i * 1e-3) for i in range(number)]
        pairs = Pairs(
            reference=tuple(each for ratio in ratios for each in (ratio, ratio)), candidate=(1.0,) * (2 * number)
        )
        means = sorted((2.0**i + 2.0**j) / 2 * 1e-3 for i in range(number) for j in range(i, number))
        found = speedup(pairs, confidence=0.95)
        assert math.log(found.low) == pytest.approx(means[edge - 1])
        assert math.log(found.high) == pytest.approx(means[-edge])


def test_the_order_turns_around_and_stops_when_told():
    done = []
    pairs = in_turns(
        lambda i: done.append(("plain", i)) or 1.0,
        lambda i: done.append(("other", i)) or 2.0,
        first=5,
        number=10,
        goes_on=lambda count: count < 3,
    )
    assert done == [("plain", 5), ("other", 5), ("other", 6), ("plain", 6), ("plain", 7), ("other", 7)]
    assert pairs == Pairs(reference=(1.0,) * 3, candidate=(2.0,) * 3)


def test_spread_is_median_and_quartiles():
    found = spread([5.0, 1.0, 4.0, 2.0, 3.0])
    assert (found.low, found.median, found.high, found.number) == (2.0, 3.0, 4.0, 5)
    assert spread([7.0]).median == 7.0
    with pytest.raises(ValueError, match="no step was timed"):
        spread([])
