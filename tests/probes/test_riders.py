"""This file tests that what is looked at in every step comes from a device by one transfer, and is the same."""

import pytest
import torch
from torch import nn

from torchmagic.debuggers.watching import watch
from torchmagic.probes import far_losses, gradients, losses
from torchmagic.probes.riders import Riders
from torchmagic.tensors import reduce

MODULES = (far_losses, gradients, losses, reduce)


def train(steps):
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
    opt = torch.optim.SGD(net.parameters(), lr=0.01)
    x, said, clipped = torch.randn(32, 8), [], []
    for _ in range(steps):
        opt.zero_grad()
        loss = net(x).square().mean()
        loss.backward()
        clipped.append(nn.utils.clip_grad_norm_(net.parameters(), 0.5).item())
        opt.step()
        said.append(loss.item())
    return said, clipped


@pytest.fixture
def transfers(monkeypatch):
    """Have every tensor taken for one on a device; return the list of how many values each transfer brought."""
    brought, fetch = [], reduce.fetch

    def counted(scalars):
        if scalars:
            brought.append(len(scalars))
        return fetch(scalars)

    monkeypatch.setattr(torch.Tensor, "is_cpu", property(lambda _tensor: False))
    for module in MODULES:
        monkeypatch.setattr(module, "fetch", counted)
    return brought


@pytest.mark.parametrize("steps", [12, 40])
def test_loss_norm_and_the_norm_before_clipping_come_by_one_transfer_a_step(transfers, steps):
    with watch(save=False, level="basic", only=("gradients", "backward"), budget=0) as run:
        said, clipped = train(steps)
    assert len(transfers) <= steps + 1
    assert min(transfers) >= len(("loss", "norm before clipping"))
    assert run.series("loss")[1] == pytest.approx(said)
    assert run.series("grad_norm_before_clip")[1] == pytest.approx(clipped, rel=1e-5)


def test_who_looks_for_non_finite_losses_takes_the_value_that_comes_anyway(transfers):
    with watch(save=False, level="basic", only=("gradients", "backward", "anomaly"), budget=0):
        train(12)
    loss_and_norm, each_parameter = 2, 4
    # the first step has looks of its own, as its backward ends
    assert set(transfers[3:]) <= {loss_and_norm, loss_and_norm + each_parameter}
    assert len(transfers) <= 12 + 2


def test_a_value_for_two_comes_once_and_neighbours_come_apart():
    riders, told, pair = Riders(), [], torch.tensor([2.0, 3.0])
    for value in (pair[0], pair[0].detach(), pair[1], pair[1].double()):
        riders.add(value, told.append)
    assert len(riders.tensors) == 3
    riders.arrive([each.item() for each in riders.tensors])
    assert told == [2.0, 2.0, 3.0, 3.0]


def test_tensors_of_ones_own_class_are_never_taken_for_each_other():
    class Own(torch.Tensor):
        pass

    riders, own = Riders(), torch.tensor(1.0).as_subclass(Own)
    for value in (own, own, torch.tensor(1.0)):
        riders.add(value, bool)
    assert len(riders.tensors) == 3


def test_norms_and_scalars_of_one_transfer_are_those_of_two():
    tensors = [torch.randn(5), torch.randn(3, 3), torch.zeros(0)]
    scalars = [torch.tensor(-2.5), torch.tensor(7.0, dtype=torch.float64)]
    assert reduce.norms_and(tensors, scalars) == (reduce.norms(tensors), [-2.5, 7.0])
    assert reduce.norms_and([], scalars) == ([], [-2.5, 7.0])
    assert reduce.norms_and([torch.tensor([float("inf")]), torch.ones(4)], scalars) == (
        [float("inf"), 2.0],
        [-2.5, 7.0],
    )
    assert reduce.norms_and([torch.ones(3, device="meta"), torch.ones(4)], scalars[:1]) == ([0.0, 2.0], [-2.5])
