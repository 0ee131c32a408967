"""This file tests that a watched loop computes the same bits as the bare loop: weights, losses and random streams."""

import random

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional
from torch.utils.data import DataLoader, TensorDataset

from torchmagic.debuggers.settings import PROBES, Settings
from torchmagic.debuggers.switches import Switches
from torchmagic.debuggers.watching import Watch, watch
from torchmagic.records.note import FailureRecord, NoteRecord
from torchmagic.session.session import Session

STEPS = 24
SETTINGS = {
    "default": {},
    "every step": {"every": 1},
    "expert": {"level": "expert"},
    "advanced, warning": {"level": "advanced", "anomaly": "warn"},
}


def seed():
    random.seed(1)
    np.random.seed(1)  # noqa: NPY002 - the global stream is what is tested
    torch.manual_seed(1)


def streams():
    return torch.get_rng_state(), random.getstate(), np.random.get_state()[1].tolist()  # noqa: NPY002 - see above


class Noisy(torch.utils.data.Dataset):
    """Augments with all three random streams."""

    def __len__(self):
        return 96

    def __getitem__(self, i):
        noise = random.random() + np.random.rand()  # noqa: NPY002, S311 - see above
        return torch.full((8,), i / 96.0) + noise * torch.rand(8), i % 3


def mlp():
    net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Dropout(0.3), nn.Linear(32, 3))
    opt = torch.optim.AdamW(net.parameters(), lr=1e-2)
    loader = DataLoader(Noisy(), batch_size=16, shuffle=True)
    for _ in range(STEPS // 6):
        for x, y in loader:
            opt.zero_grad()
            loss = functional.cross_entropy(net(x), y)
            loss.backward()
            opt.step()
            yield net, loss


def cnn():
    net = nn.Sequential(
        nn.Conv2d(1, 6, 3), nn.BatchNorm2d(6), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(24, 3)
    )
    opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
    schedule = torch.optim.lr_scheduler.StepLR(opt, 6)
    data = TensorDataset(torch.randn(96, 1, 8, 8), torch.randint(0, 3, (96,)))
    for _ in range(STEPS // 6):
        net.train()
        for x, y in DataLoader(data, batch_size=16, shuffle=True):
            loss = functional.cross_entropy(net(x), y)
            opt.zero_grad(set_to_none=False)
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 0.5)
            opt.step()
            schedule.step()
            yield net, loss
        net.eval()
        with torch.no_grad():
            net(data.tensors[0])


def gru():
    net = nn.ModuleDict({"rnn": nn.GRU(4, 12, batch_first=True, num_layers=2, dropout=0.2), "head": nn.Linear(12, 1)})
    opt = torch.optim.RMSprop(net.parameters(), lr=1e-2)
    for _ in range(STEPS):
        x = torch.randn(8, 10, 4)
        states, _ = net["rnn"](x)
        loss = ((net["head"](states[:, -1]).squeeze(1) - x.sum((1, 2))) ** 2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        yield net, loss


def lbfgs():
    net, x, y = nn.Linear(6, 1), torch.randn(64, 6), torch.randn(64, 1)
    opt = torch.optim.LBFGS(net.parameters(), max_iter=5)
    losses = []

    def closure():
        opt.zero_grad()
        losses.append(functional.mse_loss(net(x), y))
        losses[-1].backward()
        return losses[-1]

    for _ in range(4):
        opt.step(closure)
        yield net, losses[-1]


def outcome(loop):
    seed()
    losses, net = [], None
    for net, loss in loop():  # noqa: B007 - the last net is wanted
        losses.append(loss.detach().clone())
    return torch.stack(losses), {name: value.clone() for name, value in net.state_dict().items()}, streams()


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
@pytest.mark.parametrize("loop", [mlp, cnn, gru, lbfgs])
def test_a_watched_loop_computes_the_same_bits(loop, settings):
    losses, weights, after = outcome(loop)
    with watch(save=False, **settings) as run:
        watched_losses, watched_weights, watched_after = outcome(loop)
    assert run.steps >= 4
    assert torch.equal(losses, watched_losses)
    assert all(torch.equal(weights[name], watched_weights[name]) for name in weights)
    assert torch.equal(after[0], watched_after[0])
    assert after[1:] == watched_after[1:]


SWITCHED = {
    "all off, then on": {0: lambda each: each.disable(), 2: lambda each: each.enable()},
    "up the levels": {
        step: lambda each, level=level: each.set_level(level)
        for step, level in enumerate(("basic", "intermediate", "advanced", "expert"), start=1)
    },
    "down the levels": {
        step: lambda each, level=level: each.set_level(level)
        for step, level in enumerate(("expert", "advanced", "intermediate", "basic"))
    },
    "one after the other": {
        step: lambda each, step=step: (
            each.disable(PROBES[step % len(PROBES)]),
            each.enable(PROBES[(step + 5) % len(PROBES)]),
        )
        for step in range(STEPS)
    },
}


@pytest.mark.parametrize("orders", SWITCHED.values(), ids=SWITCHED)
@pytest.mark.parametrize("loop", [mlp, cnn, gru, lbfgs])
def test_switching_while_a_loop_runs_leaves_its_bits_alone(loop, orders):
    losses, weights, after = outcome(loop)
    mine = Switches()

    def switched():
        for step, each in enumerate(loop()):
            if step in orders:
                orders[step](mine)
            yield each

    watching = Watch(Settings(save=False, every=1), session=Session())
    mine.follow(watching)
    run = watching.start()
    watched_losses, watched_weights, watched_after = outcome(switched)
    watching.stop()
    assert len(run.of(NoteRecord)) >= 2
    assert not run.of(FailureRecord)
    assert torch.equal(losses, watched_losses)
    assert all(torch.equal(weights[name], watched_weights[name]) for name in weights)
    assert torch.equal(after[0], watched_after[0])
    assert after[1:] == watched_after[1:]
