"""This file is a small training, with batch norm and dropout, and its loop with and without a guard."""

import random

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional

from torchmagic.guard.training_guard import TrainingGuard


def nothing(*_given):
    """Do nothing, where a fault could be."""


class Wrapped(nn.Module):
    """Calls a function with the input before its model runs: the place where faults are injected."""

    def __init__(self, model):
        super().__init__()
        self.model, self.before = model, nothing

    def forward(self, inputs):
        self.before(inputs)
        return self.model(inputs)


def network(*, mixing=True, dtype=torch.float32):
    layers = [
        nn.Linear(6, 16),
        *([nn.BatchNorm1d(16), nn.Dropout(0.25)] if mixing else []),
        nn.Tanh(),
        nn.Linear(16, 3),
    ]
    return Wrapped(nn.Sequential(*layers)).to(dtype)


OPTIMIZERS = {
    "sgd": lambda parameters: torch.optim.SGD(parameters, lr=0.1, momentum=0.9),
    "adam": lambda parameters: torch.optim.Adam(parameters, lr=0.01),
    "adamw": lambda parameters: torch.optim.AdamW(parameters, lr=0.01, weight_decay=0.1, amsgrad=True),
    "plain": lambda parameters: torch.optim.SGD(parameters, lr=0.1),
}


class Training:
    """One training from a fixed start, with what it leaves behind."""

    def __init__(self, *, optimizer="sgd", mixing=True, dtype=torch.float32, num_batches=12, size=16, model=None):
        torch.manual_seed(0)
        self.model = network(mixing=mixing, dtype=dtype) if model is None else model
        self.optimizer = OPTIMIZERS[optimizer](self.model.parameters())
        self.batches = [(torch.randn(size, 6, dtype=dtype), torch.randint(0, 3, (size,))) for _ in range(num_batches)]
        self.losses, self.guard = [], None
        self.loss_of = functional.cross_entropy
        torch.manual_seed(1)
        random.seed(1)
        np.random.seed(1)  # noqa: NPY002 - the global stream is what is looked at

    def plain(self, *, scaler=None, clip=None, without=()):
        for number, (inputs, targets) in enumerate(self.batches):
            if number in without:
                continue
            self.optimizer.zero_grad()
            loss = self.loss_of(self.model(inputs), targets)
            if scaler is None:
                loss.backward()
                if clip:
                    nn.utils.clip_grad_norm_(self.model.parameters(), clip)
                self.optimizer.step()
            else:
                scaler.scale(loss).backward()
                if clip:
                    scaler.unscale_(self.optimizer)
                    nn.utils.clip_grad_norm_(self.model.parameters(), clip)
                scaler.step(self.optimizer)
                scaler.update()
            self.losses.append(loss.item())
        return self

    def guarded(self, *, clip=None, between=nothing, **settings):
        if clip:
            settings["before_step"] = lambda: nn.utils.clip_grad_norm_(self.model.parameters(), clip)
        self.guard = TrainingGuard(self.model, self.optimizer, **settings)
        for number, batch in enumerate(self.batches):
            between(number, self)
            for part in self.guard.step(batch):
                with part as (inputs, targets):
                    part.backward(self.loss_of(self.model(inputs), targets))
            self.losses.append(self.guard.last.loss)
        return self

    def bits(self):
        """Return everything that training changes, as bytes."""
        found = {name: tensor.detach().clone() for name, tensor in self.model.state_dict().items()}
        for place, state in enumerate(self.optimizer.state.values()):
            found |= {
                f"{place} {key}": torch.as_tensor(value).clone() for key, value in state.items() if value is not None
            }
        found["torch"] = torch.get_rng_state()
        return {name: tensor.numpy().tobytes() for name, tensor in found.items()} | {
            "python": random.getstate(),
            "numpy": str(np.random.get_state()[1:]),  # noqa: NPY002
        }

    def weights(self):
        return torch.cat([each.detach().reshape(-1) for each in self.model.parameters()])


@pytest.fixture
def training():
    return Training


@pytest.fixture
def make_network():
    return network
