"""This file tests which members of a run are still there: copies of a model that are gone are walked no more."""

import copy
import sys

import torch
from torch import nn

import torchmagic
from torchmagic.probes.members import Model, Optimizer, present


def member():
    net = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    known, entry = Model(net, "net"), Optimizer(optimizer, "opt")
    known.read()
    return net, optimizer, known, entry


def test_what_is_gone_with_all_its_parameters_is_left_out():
    net, optimizer, model, entry = member()
    entry.refs = list(model.parameters.values())
    assert present([model]) == [model]
    assert present([entry]) == [entry]
    del optimizer
    assert present([entry]) == [entry]  # its parameters are there, and it has trained them
    kept = net.bias
    del net
    assert present([model]) == [model]
    assert kept is not None
    del kept
    assert present([model]) == present([entry]) == []
    assert model.gone
    assert entry.gone


def looks(copies):
    """Return how often a C function was called in all while so many copies of a model were trained in turn."""
    x, net, count = torch.randn(8, 3), nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1)), 0

    def counts(frame, event, argument):
        nonlocal count
        count += event == "c_call"

    with torchmagic.watch(level="basic", save=False):
        for number in range(copies):
            fast = copy.deepcopy(net)
            optimizer = torch.optim.SGD(fast.parameters(), lr=0.1)
            sys.setprofile(counts if number >= copies - 8 else None)
            for _ in range(2):
                optimizer.zero_grad()
                fast(x).square().mean().backward()
                optimizer.step()
            sys.setprofile(None)
    return count


def test_the_two_hundredth_copy_costs_little_more_than_the_twentieth():
    looks(10)
    # what is looked at each second falls into one of them at most
    assert min(looks(200) for _ in range(2)) < 1.25 * min(looks(20) for _ in range(2))
