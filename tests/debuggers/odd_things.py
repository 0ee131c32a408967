"""This file is a small training, a run that watches it with no probe failing, and objects that lie or raise."""

import pytest
import torch
from torch import nn
from torch.nn import functional

from torchmagic.debuggers.settings import Settings
from torchmagic.debuggers.watching import Watch
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
