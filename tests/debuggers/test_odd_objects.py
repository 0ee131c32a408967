"""This file tests that objects which are not as most others are make no probe of ours fail."""

import weakref
from types import ModuleType, SimpleNamespace
from unittest import mock

import pytest
import torch
from torch import nn
from torch.nn import functional
from torch.utils.data import DataLoader, Dataset, Sampler

from torchmagic.debuggers.settings import Settings
from torchmagic.debuggers.watching import Watch
from torchmagic.records.model import ModelRecord
from torchmagic.records.note import FailureRecord
from torchmagic.session.session import Session

X = torch.linspace(-1.0, 1.0, 128).reshape(16, 8).sin()
Y = (X.sum(1) > 0).long()
LEVELS = pytest.mark.parametrize("level", ["basic", "expert"])


def train(model=None, *, x=X, steps=4):
    model = nn.Linear(8, 2) if model is None else model
    opt = torch.optim.SGD(nn.Module.parameters(model), lr=0.1)
    for _ in range(steps):
        opt.zero_grad()
        functional.cross_entropy(model(x), Y).backward()
        opt.step()
    return model


def watched(work, *, level="expert", **names):
    """Return the run of some work with more names in the notebook; no probe may have failed."""
    with Watch(Settings(save=False, level=level, every=1), namespace=names, session=Session()) as run:
        work()
    assert run.of(FailureRecord) == []
    return run


class Lie:
    """Says of itself that it is something else."""

    def __init__(self, kind):
        self._kind = kind

    @property
    def __class__(self):
        return object.__getattribute__(self, "_kind")


def raising(value):
    """Have attributes that an object does not have raise another error than is usual."""

    def missing(self, name):
        tables = (vars(self).get(each, {}) for each in ("_parameters", "_modules"))
        return {key: each for table in tables for key, each in table.items()}[name]

    value.__class__ = type(type(value).__name__, (type(value),), {"__getattr__": missing})
    return value


KINDS = (nn.Module, nn.Linear, torch.optim.SGD, DataLoader, torch.Tensor, nn.Parameter, dict, list, tuple, ModuleType)


@LEVELS
@pytest.mark.parametrize("make", [Lie, mock.Mock, mock.MagicMock], ids=["lie", "mock", "magic mock"])
@pytest.mark.parametrize("kind", KINDS, ids=[each.__name__ for each in KINDS])
def test_a_name_that_only_says_what_it_is_is_left_alone(kind, make, level):
    odd = Lie(kind) if make is Lie else make(spec=kind)
    net = nn.Linear(8, 2)
    object.__setattr__(net, "odd", [odd])
    held = SimpleNamespace(one=odd, many=[odd, {"a": odd}])
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


class Data(Dataset):
    """Some samples, with attributes that raise an error of their own."""

    def __len__(self):
        return len(X)

    def __getitem__(self, i):
        return X[i], Y[i]


class Order(Sampler):
    """Does not tell how long it is."""

    def __init__(self):
        pass

    def __iter__(self):
        return iter(range(len(X)))

    def __len__(self):
        raise KeyError


class Collate:
    """Has no name."""

    def __call__(self, samples):
        return torch.utils.data.default_collate(samples)

    def __getattr__(self, name):
        raise KeyError(name)


@LEVELS
def test_loaders_and_schedules_whose_code_raises_are_watched_as_any(level):
    def work():
        net = nn.Linear(8, 2)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        schedule = raising(torch.optim.lr_scheduler.StepLR(opt, 1))
        loaders = (DataLoader(Data(), batch_size=16, sampler=Order()), DataLoader(Data(), 16, collate_fn=Collate()))
        for loader in loaders:
            for x, y in loader:
                functional.cross_entropy(net(x), y).backward()
                opt.step()
                schedule.step()

    watched(work, level=level)


@LEVELS
def test_a_schedule_of_a_mock_of_an_optimizer_is_left_alone(level):
    fake = mock.MagicMock(spec=torch.optim.SGD, param_groups=[{"lr": 0.1, "params": [object()]}])

    def work():
        torch.optim.lr_scheduler.StepLR(fake, 1)
        train()

    watched(work, level=level)


class Unhelpful:
    """Holds a tensor, and has no dictionary."""

    __slots__ = ("scores",)

    def __init__(self, scores):
        self.scores = scores

    def __getattr__(self, name):
        raise KeyError(name)


class Giving(nn.Module):
    """Gives what it computes in an odd object."""

    def __init__(self):
        super().__init__()
        self.inside = nn.Linear(8, 2)

    def forward(self, x, *_, **__):
        return Unhelpful(self.inside(x)), mock.Mock(spec=torch.Tensor), Lie(torch.Tensor)


class Endless(list):
    """Cannot be gone through."""

    def __iter__(self):
        raise KeyError


@LEVELS
@pytest.mark.parametrize(
    "odd",
    [Unhelpful(X), Lie(dict), Lie(list), Endless([X]), torch.empty(3, device="meta")],
    ids=["no dictionary", "no dict", "no list", "no iterator", "meta"],
)
def test_what_a_model_is_given_and_gives_may_be_anything(odd, level):
    def work():
        net = Giving()
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(3):
            functional.cross_entropy(net(X, odd, known=odd)[0].scores, Y).backward()
            opt.step()
        net.eval()
        functional.cross_entropy(net(X, odd)[0].scores, Y)

    watched(work, level=level)
