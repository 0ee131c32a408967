"""This file tests which variables are said to hold a graph that each step makes longer."""

import torch

from torchmagic.probes.chains import MOST_LOOKS, Chains

STEPS = [1 << i for i in range(MOST_LOOKS)]


def looked(change):
    space = {"kept": torch.ones(2, requires_grad=True) * 1, "step": 0}
    chains, found = Chains(space), []
    for step in range(STEPS[-1] + 1):
        if step in STEPS:
            found.append(chains.look(step))
        change(space, step)
    return found


def test_a_sum_that_goes_on_with_its_graph_is_told_at_the_last_look():
    def change(space, step):
        space["kept"] = space["kept"] + 1

    assert looked(change) == [None, None, None, ("kept", 1)]


def test_a_graph_that_is_made_anew_and_longer_each_time_is_silent():
    def change(space, step):
        space["kept"] = torch.ones(2, requires_grad=True) * 1
        for _ in range(5 * step):
            space["kept"] = space["kept"] + 1

    assert looked(change) == [None] * 4


def test_a_graph_that_stays_as_it_is_is_silent():
    assert looked(lambda *_: None) == [None] * 4
