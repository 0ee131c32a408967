"""This file tests that modes which the user puts around operators see the training and nothing of torchmagic's."""

import pytest
import torch
from torch import nn
from torch.nn import functional
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode

from torchmagic.debuggers.watching import watch
from torchmagic.records.nonfinite import NonfiniteRecord
from torchmagic.records.note import FailureRecord


class Functions(TorchFunctionMode):
    def __init__(self):
        self.number = 0

    def __torch_function__(self, func, types, args=(), kwargs=None):
        self.number += 1
        return func(*args, **(kwargs or {}))


class Operators(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.number = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.number += 1
        return func(*args, **(kwargs or {}))


class Flops(FlopCounterMode):
    def __init__(self):
        super().__init__(display=False)

    @property
    def number(self):
        return self.get_total_flops()


def counted(kinds):
    """Return what modes of some kinds, one in the other, count over a training."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    data = [(torch.randn(16, 8), torch.randint(0, 2, (16,))) for _ in range(12)]
    modes = [kind() for kind in kinds]
    for x, y in data:
        for mode in modes:
            mode.__enter__()
        opt.zero_grad()
        functional.cross_entropy(net(x), y).backward()
        opt.step()
        for mode in reversed(modes):
            mode.__exit__(None, None, None)
    return [mode.number for mode in modes]


@pytest.mark.parametrize("level", ["basic", "advanced", "expert"])
@pytest.mark.parametrize("kinds", [[Functions], [Operators], [Flops], [Functions, Operators, Functions, Operators]])
def test_modes_of_the_users_count_the_training_alone(kinds, level):
    bare = counted(kinds)
    with watch(save=False, level=level) as run:
        watched = counted(kinds)
    assert watched == bare
    assert all(bare)
    assert run.steps == 12
    assert not run.of(FailureRecord)
    assert not torch._C._len_torch_dispatch_stack() + torch._C._len_torch_function_stack()


class Own(torch.Tensor):
    """A tensor that tells of everything that is done with it."""

    told = 0

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        Own.told += 1
        return super().__torch_function__(func, types, args, kwargs or {})


def told_of(own, *, rounds=20):
    """Return how often a training tells of what is done with data, or parameters, of a class of their own."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
    x, y = torch.randn(32, 4), torch.randint(2, (32,))
    if own == "data":
        x, y = x.as_subclass(Own), y.as_subclass(Own)
    else:
        net[0].weight = nn.Parameter(net[0].weight.detach().as_subclass(Own))
    opt, Own.told = torch.optim.SGD(net.parameters(), lr=0.1), 0
    for index in range(rounds):
        net.train(index % 5 > 0)
        opt.zero_grad()
        loss = functional.cross_entropy(net(x), y)
        if net.training:
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            opt.step()
    return Own.told


@pytest.mark.parametrize("level", ["basic", "advanced", "expert"])
@pytest.mark.parametrize("own", ["data", "parameters"])
def test_tensors_of_the_users_own_class_are_told_of_the_training_alone(own, level):
    bare = told_of(own)
    with watch(save=False, level=level) as run:
        watched = told_of(own)
        at_the_end = Own.told
    assert watched == bare > 0
    assert Own.told == at_the_end
    assert run.steps == 16
    assert not run.of(FailureRecord)


class Doubled(torch.Tensor):
    """A tensor whose logarithm is of another number than torch's own would take."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        output = super().__torch_function__(func, types, args, kwargs or {})
        return output * -1 if func is torch.abs else output


class Logs(nn.Linear):
    def forward(self, x):
        return super().forward(torch.abs(x).log())


def test_what_is_run_again_does_as_the_users_own_class_has_it():
    net = Logs(4, 2)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    x = torch.ones(8, 4).as_subclass(Doubled)
    with watch(save=False) as run:
        for _ in range(3):
            opt.zero_grad()
            net(x).sum().backward()
            opt.step()
    (found,) = run.of(NonfiniteRecord)
    assert (found.op, found.proven) == ("log", True)


@pytest.mark.parametrize("kind", [Functions, Operators, Flops])
def test_modes_around_the_whole_run_count_the_training_alone(kind):
    bare = kind()
    with bare:
        counted([])
    watched = kind()
    with watched, watch(save=False, level="advanced"):
        counted([])
    assert watched.number == bare.number > 0
