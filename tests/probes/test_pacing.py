"""This file tests the pace: the budget holds, whatever a collection costs, and every kind is seen now and then."""

import itertools
import random
from functools import partial

import pytest

from torchmagic.probes.pacing import (
    LONGEST,
    LONGEST_LATER,
    OFTEN,
    SETTLED,
    SHARE_OF_STEPS,
    Pacer,
    next_look,
    next_window,
)
from torchmagic.probes.rare_looks import next_rare_look

STEP = 1_000_000


def simulate(pacer, *, kinds, hidden=0.0, steps=4000, jitter=0.0, always=0):
    """Run steps of a millisecond; return the share that collections truly took, and the steps each kind was taken at.

    ``kinds`` says what each kind times of itself; ``hidden`` is how much of that comes on top, unseen by its timing.
    """
    noise = random.Random(1)  # noqa: S311 - a seeded disturbance
    true, taken = 0.0, {kind: [] for kind in kinds}
    for step in range(steps):
        extra, paid = 0.0, 0
        for kind, cost in kinds.items():
            if pacer.wants(kind):
                pacer.pay(kind, int(cost))
                taken[kind].append(step)
                paid += int(cost)
                extra += cost * hidden
                true += cost * (1 + hidden)
        pacer.earn(int(STEP * (1 + jitter * noise.random()) + extra), paid + always)
    return true / (steps * STEP), taken


@pytest.mark.parametrize("hidden", [0.0, 0.5, 1.5])
@pytest.mark.parametrize("share", [0.03, 0.05, 0.1])
def test_the_budget_holds_even_when_collections_time_themselves_too_low(share, hidden):
    spent, taken = simulate(Pacer(share=share), kinds={"gradients": 250e3, "updates": 400e3}, hidden=hidden, jitter=0.2)
    assert spent <= 1.4 * share
    early, _ = simulate(Pacer(share=share), kinds={"gradients": 250e3, "updates": 400e3}, hidden=hidden, steps=150)
    assert early >= 0.5 * share, "a budget is there to be used"
    assert all(taken.values())


@pytest.mark.parametrize("share", [0.03, 0.05])
def test_a_run_that_has_its_table_goes_on_with_a_third_of_the_budget(share):
    _, taken = simulate(Pacer(share=share), kinds={"gradients": 250e3}, steps=1064)
    late = sum(step >= 64 for step in taken["gradients"])
    assert 0.2 * share <= late * 250e3 / (1000 * STEP) <= 0.4 * share
    early = sum(step < SETTLED for step in taken["gradients"])
    assert early * 250e3 / (SETTLED * STEP) >= 0.9 * share


def test_what_hardly_changes_is_looked_at_ever_more_rarely_and_never_a_quarter_of_the_run_late():
    for look in (next_look, next_rare_look, partial(next_window, width=16)):
        steps = [0]
        while steps[-1] < 20_000:
            steps.append(look(steps[-1]))
        gaps = dict(itertools.pairwise(steps))
        assert max(after - step for step, after in gaps.items()) == LONGEST_LATER
        assert all(after - step <= max(LONGEST, step / SHARE_OF_STEPS) for step, after in gaps.items())
        assert len(steps) < 110


def test_what_every_step_costs_comes_out_of_the_budget_first():
    spent, _ = simulate(Pacer(share=0.05), kinds={"gradients": 250e3}, always=30_000)
    assert spent <= 0.03
    _, taken = simulate(Pacer(share=0.05), kinds={"gradients": 250e3}, always=90_000)
    late = [step for step in taken["gradients"] if 200 < step < 2 * SHARE_OF_STEPS * LONGEST]
    assert {b - a for a, b in itertools.pairwise(late)} == {LONGEST | 1}


def test_a_kind_that_never_fits_is_taken_all_the_same_but_rarely():
    _, taken = simulate(Pacer(share=0.0001), kinds={"gradients": 5e6, "activations": 5e6})
    gaps = {kind: [b - a for a, b in itertools.pairwise(steps)] for kind, steps in taken.items()}
    assert max(gaps["gradients"]) == LONGEST_LATER | 1
    assert max(gaps["activations"]) == LONGEST_LATER // OFTEN["activations"] | 1
    assert all(b - a <= max(LONGEST, a / SHARE_OF_STEPS) + 1 for a, b in itertools.pairwise(taken["gradients"]))
    assert {step % 2 for step in taken["gradients"]} == {0, 1}, "of two optimizers that step in turn both are seen"


def test_a_kind_that_comes_after_a_dear_one_is_collected_all_the_same():
    pacer = Pacer(share=0.05)
    pacer.pay("reach", 100_000_000)
    pacer.earn(STEP, 0)
    assert pacer.wants("gradients")
    pacer.pay("gradients", 100_000)
    pacer.earn(STEP, 0)
    assert not pacer.wants("gradients")


def test_a_fixed_cadence_outweighs_the_budget():
    _, taken = simulate(Pacer(share=0.0, every=7), kinds={"gradients": 250e3}, steps=70)
    assert taken["gradients"] == list(range(0, 70, 7))


def test_one_slow_step_does_not_pay_for_a_burst():
    pacer = Pacer(share=0.05)
    simulate(pacer, kinds={"gradients": 500e3}, steps=500)
    pacer.earn(3_000 * STEP, 0)
    spent, _ = simulate(pacer, kinds={"gradients": 500e3}, steps=400)
    assert spent <= 2 * 0.05


def test_the_longer_a_run_the_rarer_its_rows():
    _, taken = simulate(Pacer(share=0.5), kinds={"gradients": 10e3}, steps=10_000)
    steps = taken["gradients"]
    assert steps[:8] == list(range(8))
    assert 200 <= len(steps) <= 350
    gaps = [b - a for a, b in itertools.pairwise(steps)]
    assert gaps == sorted(gaps)


def test_even_a_short_run_is_looked_at_more_than_once_and_at_both_of_two_optimizers():
    _, taken = simulate(Pacer(share=0.0001), kinds={"updates": 20e6}, steps=60)
    assert taken["updates"] == [0, 7, 14, 29, 58]


@pytest.mark.parametrize("always", [0, 90_000])
@pytest.mark.parametrize("share", [0.0001, 0.05, 0.5])
def test_nothing_is_wanted_while_a_rest_lasts(share, always):
    """Where each step earns what the one before did, who rests misses no step at which it would be asked for more."""
    pacer, until = Pacer(share=share), 0
    for step in range(2_000):
        if pacer.wants("gradients"):
            assert step >= until
            pacer.pay("gradients", 250_000)
        elif step >= until:
            until = step + pacer.rest("gradients")
        pacer.earn(STEP, always)


@pytest.mark.parametrize("pacer", [Pacer(share=0.0), Pacer(share=0.0, every=16)])
def test_a_rest_ends_where_a_collection_is_wanted(pacer):
    until, num_rests = 0, 0
    for step in range(400):
        wanted = pacer.wants("gradients")
        assert wanted or step != until
        if wanted:
            pacer.pay("gradients", 2_000_000)
        elif step >= until:
            until = step + pacer.rest("gradients")
            num_rests += until > step
        pacer.earn(STEP, 0)
    assert num_rests > 5


def test_what_is_demanded_is_wanted_at_once_and_later_as_ever():
    pacer = Pacer(share=0.0)
    simulate(pacer, kinds={"gradients": 5e6, "activations": 5e6}, steps=100)
    assert not pacer.wants("activations")
    pacer.demand()
    assert pacer.wants("activations")
    _, taken = simulate(pacer, kinds={"gradients": 5e6, "activations": 5e6}, steps=30)
    assert taken == {"gradients": [0], "activations": [0]}
