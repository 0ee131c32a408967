"""This file tests that a profiled loop computes the same bits as the bare loop: weights, losses and random streams."""

import random

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional
from torch.utils.data import DataLoader, Dataset, TensorDataset

from torchmagic.profiling.lines import Lines

SETTINGS = {
    "default": {"steps": 6},
    "everything": {"steps": 6, "memory": True, "shapes": True, "flops": True, "stacks": True},
    "waiting": {"steps": 3, "wait": 2, "warmup": 1},
}


def seed():
    random.seed(1)
    np.random.seed(1)  # noqa: NPY002 - the global stream is what is tested
    torch.manual_seed(1)


def streams():
    return torch.get_rng_state(), random.getstate(), np.random.get_state()[1].tolist()  # noqa: NPY002 - see above


class Noisy(Dataset):
    """Augments with all three random streams."""

    def __len__(self):
        return 96

    def __getitem__(self, i):
        noise = random.random() + np.random.rand()  # noqa: NPY002, S311 - see above
        return torch.full((8,), i / 96.0) + noise * torch.rand(8), i % 3


def mlp():
    net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Dropout(0.3), nn.Linear(32, 3))
    opt = torch.optim.AdamW(net.parameters(), lr=1e-2)
    for _ in range(2):
        for x, y in DataLoader(Noisy(), batch_size=16, shuffle=True):
            opt.zero_grad()
            loss = functional.cross_entropy(net(x), y)
            loss.backward()
            opt.step()
            yield net, loss


def cnn():
    net = nn.Sequential(
        *(nn.Conv2d(1, 6, 3), nn.BatchNorm2d(6), nn.ReLU(inplace=True), nn.Dropout2d(0.2)),
        *(nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(24, 3)),
    )
    opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
    data = TensorDataset(torch.randn(96, 1, 8, 8), torch.randint(0, 3, (96,)))
    for _ in range(2):
        for x, y in DataLoader(data, batch_size=16, shuffle=True):
            opt.zero_grad(set_to_none=False)
            loss = functional.cross_entropy(net(x), y)
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 0.5)
            opt.step()
            yield net, loss


def outcome(loop):
    seed()
    losses, net = [], None
    for net, loss in loop():  # noqa: B007 - the last net is wanted
        losses.append(loss.detach().clone())
    return torch.stack(losses), net.state_dict(), streams()


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
@pytest.mark.parametrize("loop", [mlp, cnn])
def test_a_profiled_loop_computes_the_same_bits(loop, settings, profiled):
    losses, weights, after = outcome(loop)
    with profiled(namespace=globals(), line_ranges=Lines(), **settings) as seen:
        profiled_losses, profiled_weights, profiled_after = outcome(loop)
    assert not seen.failures
    assert len(seen.collected.step_ends) == settings["steps"]
    assert torch.equal(losses, profiled_losses)
    assert all(torch.equal(weights[name], profiled_weights[name]) for name in weights)
    assert torch.equal(after[0], profiled_after[0])
    assert after[1:] == profiled_after[1:]


def test_reading_a_profile_draws_no_random_number(profiled, tmp_path):
    with profiled(flops=True, trace=str(tmp_path / "trace.json")) as seen:
        mlp_losses = outcome(mlp)
        before = streams()
    after = streams()
    assert seen.run.steps == len(mlp_losses[0])
    assert torch.equal(before[0], after[0])
    assert before[1:] == after[1:]
