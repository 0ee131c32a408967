"""This file tests that what models, loaders, schedules and scalers are given and give may be anything."""

import weakref
from unittest import mock

import pytest
import torch
from odd_things import LEVELS, Lie, X, Y, raising, train, watched
from torch import nn
from torch.nn import functional
from torch.utils.data import DataLoader, Dataset, Sampler


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
def test_a_schedule_and_a_scaler_of_a_mock_of_an_optimizer_are_left_alone(level):
    fake = mock.MagicMock(spec=torch.optim.SGD, param_groups=[{"lr": 0.1, "params": [object()]}])

    def work():
        torch.optim.lr_scheduler.StepLR(fake, 1)
        model = train()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        torch.amp.GradScaler("cpu", enabled=False).step(fake)
        train(model)

    watched(work, level=level)


class Unhelpful:
    """Holds a tensor, and has no dictionary."""

    __slots__ = ("scores",)

    def __init__(self, scores):
        self.scores = scores

    def __getattr__(self, name):
        raise KeyError(name)


class Giving(nn.Module):
    """Gives what it computes in an odd object, after what is none."""

    def __init__(self):
        super().__init__()
        self.inside = nn.Linear(8, 2)

    def forward(self, _, x, *_more, alone=False, **_named):
        scores = Unhelpful(self.inside(x).softmax(1))
        return scores if alone else (Lie(torch.Tensor), mock.Mock(spec=torch.Tensor), scores)


class Endless(list):
    """Cannot be gone through."""

    def __iter__(self):
        raise KeyError


ODD = {
    "no dictionary": lambda: Unhelpful(X),
    "no dict": lambda: Lie(dict),
    "no list": lambda: Lie(list),
    "no tensor": lambda: Lie(torch.Tensor),
    "no iterator": lambda: Endless([X]),
    "no numbers": lambda: torch.empty(3, device="meta"),
    "gone": lambda: weakref.proxy(nn.Linear(1, 1)),
}


@LEVELS
@pytest.mark.parametrize("odd", ODD)
def test_what_a_model_is_given_and_gives_may_be_anything(odd, level):
    def work():
        net, given = Giving(), ODD[odd]()
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(3):
            functional.nll_loss(net(given, X, given, known=given)[-1].scores.log(), Y).backward()
            opt.step()
        functional.nll_loss(net(given, X, alone=True, known=given).scores.log(), Y).backward()
        net.eval()
        functional.nll_loss(net(given, X)[-1].scores.log(), Y)

    watched(work, level=level)


@LEVELS
@pytest.mark.parametrize("alone", [False, True])
def test_what_a_model_gives_without_a_gradient_may_be_anything(alone, level):
    def work():
        net = Giving()
        for _ in range(2):
            given = net(None, X, alone=alone)
            scores = (given if alone else given[-1]).scores
            functional.nll_loss(scores.detach().log().requires_grad_(), Y).backward()

    watched(work, level=level)
