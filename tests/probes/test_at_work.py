"""This file tests who is at work: what is known of an optimizer goes with it, and hundreds cost no more than a few."""

import pytest
import torch
from torch import nn

import torchmagic
from torchmagic.probes.at_work import FEW, RECENT, AtWork
from torchmagic.probes.members import Optimizer
from torchmagic.records.loop import DiscardedGradientsRecord
from torchmagic.records.protocol import UnclearedGradientsRecord


class Some:
    """Stands for an optimizer of torch's, of which only whether it lives is asked."""


@pytest.fixture
def alive():
    return [Some() for _ in range(200)]


def entries(alive):
    return [Optimizer(each, f"opt{i}") for i, each in enumerate(alive)]


def test_a_few_are_at_work_however_seldom_they_step(alive):
    at_work, (rare, often) = AtWork(), entries(alive[:2])
    at_work.step(rare)
    for _ in range(10 * RECENT):
        at_work.step(often)
    at_work.step(entries(alive[2:3])[0])
    assert rare in at_work.members


def test_of_many_those_are_that_stepped_last(alive):
    at_work, every = AtWork(), entries(alive)
    for entry in every:
        for _ in range(4):
            at_work.step(entry)
        assert len(at_work.members) <= max(FEW, RECENT // 4) + 2
    assert every[-1] in at_work.members
    assert every[0] not in at_work.members


def test_what_is_known_of_one_that_is_out_is_handed_back_and_forgotten(alive):
    at_work, every, parted = AtWork(), entries(alive), []
    notes = at_work.notes(parted.append)
    for i, entry in enumerate(every):
        for _ in range(RECENT):
            at_work.step(entry)
        notes[id(entry)] = i
    assert parted[:2] == [0, 1]
    assert set(notes) == {id(each) for each in at_work.members}
    at_work.step(every[0])
    assert every[0] in at_work.members
    assert id(every[0]) not in notes


def test_one_that_is_gone_is_out_when_the_next_comes(alive):
    at_work, (first, second) = AtWork(), entries(alive[:2])
    at_work.step(first)
    first.part()
    at_work.step(second)
    assert at_work.members == [second]


def trained(count, steps, *, clears=True):
    """Train so many models, one after the other, and keep them all."""
    x, kept = torch.randn(8, 3), []
    for _ in range(count):
        net = nn.Linear(3, 1)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
        for _ in range(steps):
            if clears:
                optimizer.zero_grad()
            net(x).pow(2).mean().backward()
            optimizer.step()
        kept.append((net, optimizer))
    return kept


def test_each_of_a_hundred_trainings_is_looked_at_by_itself():
    with torchmagic.watch(level="basic") as run:
        trained(60, 4)
        trained(1, 12, clears=False)
    assert {each.optimizer for each in run.of(UnclearedGradientsRecord)} == {
        run.of(UnclearedGradientsRecord)[-1].optimizer
    }
    assert run.steps == 60 * 4 + 12


def test_what_was_found_of_one_is_told_though_many_came_after_it():
    x, net = torch.randn(8, 3), nn.Linear(3, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    with torchmagic.watch(level="basic") as run:
        for _ in range(6):
            for _ in range(3):
                optimizer.zero_grad()
                net(x).pow(2).mean().backward()
            optimizer.step()
        trained(40, 4)
    assert [each.wiped for each in run.of(DiscardedGradientsRecord)] == [2]
