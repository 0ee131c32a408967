"""This file tests that objects which are not as most others are make no probe of ours fail."""

import weakref
from types import FunctionType, ModuleType, SimpleNamespace
from unittest import mock

import pytest
import torch
from odd_things import LEVELS, Lie, X, Y, raising, train, watched
from torch import nn
from torch.nn import functional
from torch.utils.data import DataLoader

from torchmagic.records.connection import UnregisteredRecord
from torchmagic.records.model import ModelRecord
from torchmagic.records.nonfinite import NonfiniteRecord

KINDS = (nn.Module, nn.Linear, torch.optim.SGD, DataLoader, torch.Tensor, nn.Parameter, dict, list, tuple, ModuleType)


@LEVELS
@pytest.mark.parametrize("make", [Lie, mock.Mock, mock.MagicMock], ids=["lie", "mock", "magic mock"])
@pytest.mark.parametrize("kind", KINDS, ids=[each.__name__ for each in KINDS])
def test_a_name_that_only_says_what_it_is_is_left_alone(kind, make, level):
    odd = Lie(kind) if make is Lie else make(spec=kind)
    net = nn.Linear(8, 2)
    held = SimpleNamespace(one=odd, many=[odd, {"a": odd}])
    vars(held)[1] = odd
    run = watched(lambda: train(net), level=level, odd=odd, held=held, net=net)
    assert [each.name for each in run.of(ModelRecord)] == ["net"]


@LEVELS
@pytest.mark.parametrize("kind", [nn.Linear, torch.optim.SGD, DataLoader])
def test_an_object_whose_constructor_did_not_run_is_left_alone(kind, level):
    bare = kind.__new__(kind)
    loader = DataLoader(list(zip(X, Y, strict=True)), batch_size=16)

    def work():
        for x, _ in loader:
            train(x=x)

    watched(work, level=level, bare=bare, kept=[bare], proxy=weakref.proxy(bare))


@LEVELS
def test_a_module_whose_attributes_raise_an_error_of_their_own_is_watched_as_any(level):
    net = nn.Sequential(raising(nn.Linear(8, 6)), nn.ReLU(), raising(nn.Sequential(nn.Linear(6, 2))))
    outer = raising(nn.Sequential(net))
    run = watched(lambda: train(outer), level=level, outer=outer)
    assert [each.name for each in run.of(ModelRecord)] == ["outer"]
    assert run.steps == 4


class Overriding(nn.Linear):
    """Has methods of its own under torch's names, and counts their calls."""

    calls = 0

    def parameters(self):
        type(self).calls += 1
        return list(super().parameters())

    def named_parameters(self, *_, **__):
        type(self).calls += 1
        raise KeyError

    def buffers(self, *_):
        type(self).calls += 1
        raise KeyError

    def extra_repr(self):
        type(self).calls += 1
        raise KeyError


@LEVELS
def test_methods_that_a_module_has_for_itself_are_not_called(level):
    net = Overriding(8, 2)
    opt = torch.optim.SGD([net.weight, net.bias], lr=0.1)

    def work():
        for _ in range(4):
            opt.zero_grad()
            functional.cross_entropy(net(X), Y).backward()
            opt.step()

    run = watched(work, level=level, net=net, opt=opt)
    assert Overriding.calls == 0
    assert [each.num_parameters for each in run.of(ModelRecord)] == [18]


class Closed(nn.Linear):
    """Does not say what it is made of."""

    def modules(self):
        raise KeyError

    def forward(self, x):
        return super().forward(x) + (-x.abs().sum()).log()


@LEVELS
def test_a_module_that_does_not_say_what_it_is_made_of_is_watched_as_any(level):
    net = Closed(8, 2)
    run = watched(lambda: train(net, steps=2), level=level, net=net)
    assert [each.name for each in run.of(ModelRecord)] == ["net"]
    assert [each.op for each in run.of(NonfiniteRecord)] == ["log"]


class Endless(list):
    """Cannot be gone through."""

    def __iter__(self):
        raise KeyError


class Hiding(nn.Module):
    """Has a layer that torch does not know of, and beside it what only says what it is."""

    def __init__(self, odd):
        super().__init__()
        self.inside, self.hidden = nn.Linear(8, 2), [nn.Linear(8, 8)]
        object.__setattr__(self, "odd", odd)
        self.many, type(self).shared, type(self).gone = (
            [odd, {"a": odd, "b": Endless()}],
            odd,
            weakref.proxy(nn.Linear(1, 1)),
        )

    def forward(self, x):
        return self.inside(self.hidden[0](x))


@pytest.mark.parametrize("make", [Lie, mock.Mock], ids=["lie", "mock"])
@pytest.mark.parametrize("kind", [nn.Linear, torch.Tensor, nn.Parameter, dict, list, set])
def test_beside_a_layer_that_is_not_registered_what_only_says_what_it_is_is_left_alone(kind, make):
    odd = Lie(kind) if make is Lie else make(spec=kind)
    run = watched(lambda: train(Hiding(odd)))
    assert [each.attribute for each in run.of(UnregisteredRecord)] == ["hidden"]


PRETENDER = Lie(FunctionType)


def test_a_function_that_is_none_is_not_looked_into():
    def work():
        _ = PRETENDER
        resting = torch.optim.SGD(nn.Linear(2, 2).parameters(), lr=0.1)
        resting.zero_grad()
        functional.cross_entropy(nn.Linear(8, 2)(X), Y).backward()

    watched(work)
