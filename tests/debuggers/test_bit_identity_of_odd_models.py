"""This file tests that models with streams, properties and state of their own compute the same bits when watched."""

import math

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional
from torch.nn.utils import parametrizations
from torch.utils.data import DataLoader, TensorDataset

from torchmagic.debuggers.watching import watch
from torchmagic.records.note import FailureRecord

SETTINGS = {
    "default": {},
    "every step": {"every": 1},
    "basic": {"level": "basic"},
    "expert": {"level": "expert"},
}
SHARED = torch.Generator()
SEEN = []


class Net(nn.Module):
    """Two layers; what happens between them differs from class to class."""

    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(8, 16), nn.Linear(16, 2)
        self.reads, self._log, self.kept = 0, [], {"a": []}
        self.own, self.rng = torch.Generator().manual_seed(1), np.random.default_rng(1)

    def forward(self, x):
        return self.last(self.between(torch.relu(self.first(x))))


class OwnStream(Net):
    def between(self, hidden):
        return hidden + 0.1 * torch.randn(hidden.shape, generator=self.own)


class SharedStream(Net):
    def between(self, hidden):
        return hidden * torch.empty_like(hidden).bernoulli_(0.9, generator=SHARED)


class NumpyStream(Net):
    def between(self, hidden):
        return hidden * (1 + 0.1 * self.rng.random())


class NoisyProperty(Net):
    @property
    def noise(self):
        self.reads += 1
        return torch.rand(16)

    def between(self, hidden):
        return self.noise.mul(hidden)


class Remembering(Net):
    def between(self, hidden):
        self._log.append(1)
        self.kept["a"].append(1)
        SEEN.append(1)
        return hidden * (1 + 0.01 * len(self._log) + 0.01 * len(self.kept["a"]) + 0.01 * len(SEEN))


class Spectral(Net):
    """Reading its weight moves a power iteration on."""

    def __init__(self):
        super().__init__()
        parametrizations.spectral_norm(self.first)

    def between(self, hidden):
        return functional.linear(hidden, self.last.weight.T @ self.last.weight) + self.first.weight.norm()


def outcome(kind, bad_step):
    torch.manual_seed(0)
    SHARED.manual_seed(1)
    SEEN.clear()
    data = TensorDataset(torch.randn(96, 8), torch.randint(0, 2, (96,)))
    net = kind()
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    losses = []
    for _ in range(2):
        for x, y in DataLoader(data, batch_size=16):
            if len(losses) == bad_step:
                x = torch.full_like(x, math.nan)  # noqa: PLW2901 - a batch that is skipped below
            opt.zero_grad()
            loss = functional.cross_entropy(net(x), y)
            loss.backward()
            if math.isfinite(loss.item()):
                opt.step()
            losses.append(loss.item())
    weights = {name: value.tolist() for name, value in net.state_dict().items()}
    return repr((losses, weights, net.reads, net._log, net.kept, len(SEEN))), torch.get_rng_state().tolist()


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
@pytest.mark.parametrize("bad_step", [None, 8], ids=["sound", "one batch of NaN"])
@pytest.mark.parametrize(
    "kind",
    [OwnStream, SharedStream, NumpyStream, NoisyProperty, Remembering, Spectral],
    ids=lambda kind: kind.__name__,
)
def test_a_model_with_state_of_its_own_computes_the_same_bits(kind, bad_step, settings):
    bare = outcome(kind, bad_step)
    with watch(save=False, **settings) as run:
        watched = outcome(kind, bad_step)
    assert watched == bare
    assert not run.of(FailureRecord)
