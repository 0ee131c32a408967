"""This file tests that a step which calls that of its base class is one step."""

import functools

import pytest
import torch
from torch import nn

from torchmagic.debuggers.settings import Settings
from torchmagic.debuggers.watching import Watch
from torchmagic.session.session import Session


class Heir(torch.optim.SGD):
    """An optimizer of one's own: it does something of its own, and then what its base class does."""

    def step(self, closure=None):
        return super().step(closure)


def trained(optimizer, net, *, steps=5):
    for _ in range(steps):
        optimizer.zero_grad()
        net(torch.ones(2, 3)).sum().backward()
        optimizer.step()


@pytest.fixture
def net():
    net = nn.Linear(3, 1)
    torch.optim.SGD(net.parameters(), lr=0.1)  # from here on torch has the step of the base class call the hooks
    return net


def watch():
    return Watch(Settings(save=False, level="basic"), session=Session())


def test_a_step_that_calls_that_of_its_base_class_is_one(net):
    with watch() as run:
        trained(Heir(net.parameters(), lr=0.1), net)
    assert run.steps == 5
    assert len(run.series("grad_norm")[0]) == 5
    assert run.findings == ()


def test_so_is_one_that_was_patched_and_one_of_the_base_class_itself(net, monkeypatch):
    own = torch.optim.SGD.step

    @functools.wraps(own)
    def patched(*given, **named):
        return own(*given, **named)

    monkeypatch.setattr(torch.optim.SGD, "step", patched)
    with watch() as run:
        trained(torch.optim.SGD(net.parameters(), lr=0.1), net)
        trained(Heir(net.parameters(), lr=0.1), net)
    assert run.steps == 10


def test_after_a_step_that_raised_the_next_one_counts(net):
    optimizer = Heir(net.parameters(), lr=0.1)

    def fail():
        raise ZeroDivisionError

    with watch() as run:
        trained(optimizer, net, steps=1)
        with pytest.raises(ZeroDivisionError):
            optimizer.step(fail)
        trained(optimizer, net, steps=2)
    assert run.steps == 3


def test_a_step_that_calls_another_optimizers_is_two(net):
    other = torch.optim.SGD(nn.Linear(3, 1).parameters(), lr=0.1)

    class Both(torch.optim.SGD):
        def step(self, closure=None):
            other.step()
            return super().step(closure)

    with watch() as run:
        trained(Both(net.parameters(), lr=0.1), net)
    assert run.steps == 10
