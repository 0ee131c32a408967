"""This file tests what counts as it says, and what is left alone."""

import weakref
from unittest import mock

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader

from torchmagic.tensors.genuine import attributes_of, is_genuine, is_tensor


class Computing(torch.optim.SGD):
    """Takes its groups from another optimizer, as those of accelerate do."""

    def __init__(self, inner):
        self.inner = inner

    @property
    def param_groups(self):
        return self.inner.param_groups


class Around:
    """Says that it is the loader that it passes everything on to, as those of accelerate do."""

    def __init__(self, loader):
        self.loader = loader

    @property
    def __class__(self):
        return type(self.loader)

    def __getattr__(self, name):
        return getattr(self.loader, name)


class Closed:
    """Has no dictionary, and raises where it is asked for one."""

    __slots__ = ()

    def __getattr__(self, name):
        raise KeyError(name)


NET = nn.Linear(2, 1)
OPTIMIZER = torch.optim.SGD(NET.parameters())


def test_what_is_as_it_says_is_genuine():
    values = (
        NET,
        OPTIMIZER,
        Computing(OPTIMIZER),
        DataLoader([1]),
        torch.ones(1),
        NET.weight,
        {},
        1,
        None,
        torch.optim,
    )
    assert all(map(is_genuine, values))
    assert all(map(is_genuine, (mock.Mock(), nn.Linear, Closed(), Around(DataLoader([1])))))


@pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")
def test_torchscript_is_a_module_as_any():
    assert is_genuine(torch.jit.script(NET))


@pytest.mark.parametrize("kind", [nn.Linear, torch.optim.SGD, torch.Tensor, dict, DataLoader])
def test_a_mock_of_a_kind_is_none_of_that_kind(kind):
    assert isinstance(mock.Mock(spec=kind), kind)
    assert not is_genuine(mock.Mock(spec=kind))


def test_a_proxy_is_not_what_it_stands_for_whether_that_is_there_or_gone():
    net = nn.Linear(2, 1)
    proxy = weakref.proxy(net)
    assert not is_genuine(proxy)
    del net
    assert not is_genuine(proxy)


@pytest.mark.parametrize("kind", [nn.Linear, torch.optim.SGD, DataLoader])
def test_what_was_never_made_is_not_genuine(kind):
    assert not is_genuine(kind.__new__(kind))


def test_a_tensor_is_known_by_its_type():
    assert is_tensor(NET.weight)
    assert not is_tensor(mock.Mock(spec=torch.Tensor))


def test_attributes_are_read_without_asking_the_class():
    assert attributes_of(NET)["in_features"] == 2
    assert attributes_of(Closed()) == {}
