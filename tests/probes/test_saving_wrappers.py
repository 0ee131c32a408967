"""This file tests how what nodes saved is read with an older torch, which unpacks it."""

import pytest
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from torchmagic.probes import graph_walk, taps
from torchmagic.probes.graph_walk import READABLE, Packing, saved, walk
from torchmagic.probes.hooked import REPLACED, SAVING
from torchmagic.probes.saving_wrappers import wrap_saving


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x, x * x)
        return x**3

    @staticmethod
    def backward(ctx, gradient):
        x, square = ctx.saved_tensors
        return 3 * square * gradient + 0 * x


@pytest.fixture
def older(monkeypatch):
    """Do as with a torch that tells of no saved tensor how it lies in the graph."""
    monkeypatch.setattr(graph_walk, "READABLE", False)
    if READABLE:  # else it is in there
        monkeypatch.setattr(taps, "REPLACED", (*REPLACED, (*SAVING[0], wrap_saving)))


def losses():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(144, 3))
    x = torch.randn(8, 1, 8, 8)
    yield nn.functional.cross_entropy(net(x), torch.randint(3, (8,))) / 4
    yield Cube.apply(net(x)).sum()
    yield nn.LSTM(8, 4)(x[0])[0].exp().mean()
    yield nn.MultiheadAttention(8, 2)(*[x[:, 0]] * 3)[0].std()


def addresses(loss):
    return sorted(each.data_ptr() for each in saved(walk(loss).nodes).tensors)


@pytest.mark.parametrize("place", range(4))
def test_the_same_is_read_by_unpacking_and_the_backward_is_left_as_it_was(monkeypatch, place):
    loss = list(losses())[place]
    read = addresses(loss)
    monkeypatch.setattr(graph_walk, "READABLE", False)
    assert addresses(loss) == read != []
    assert not saved(walk(loss).nodes).unseen
    loss.backward()
    assert not saved(walk(loss).nodes).tensors
    assert not saved(walk(loss).nodes).unseen  # freed, and not hidden


def test_what_was_changed_since_is_not_seen_there(monkeypatch):
    monkeypatch.setattr(graph_walk, "READABLE", False)
    out = nn.Linear(4, 4)(torch.ones(2, 4)).exp()
    with torch.no_grad():
        out.add_(1)
    assert saved(walk(out).nodes).unseen == {"ExpBackward0"}


@pytest.mark.usefixtures("older")
def test_hooks_are_seen_and_nothing_is_unpacked_from_then_on(run_cell):
    run, names = run_cell(
        """
        unpacked = []
        net = nn.Linear(4, 4)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for step in range(5):
            opt.zero_grad()
            with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: unpacked.append(step) or t):
                loss = net(torch.randn(8, 4)).exp().mean() / 4
            loss.backward()
            opt.step()
        """,
        level="advanced",
    )
    assert Packing.was_seen
    assert names["unpacked"].count(0) == names["unpacked"].count(4) > 0
    assert run.steps == 5


@pytest.mark.usefixtures("older")
def test_checkpointing_counts_as_hooks_and_computes_as_ever(run_cell):
    _, names = run_cell(
        """
        runs = []
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.first, self.last = nn.Linear(4, 4), nn.Linear(4, 1)
            def part(self, x):
                runs.append(1)
                return self.first(x).exp()
            def forward(self, x):
                return self.last(checkpoint(self.part, x, use_reentrant=False))
        net = Net()
        opt = torch.optim.SGD(net.parameters(), lr=0.01)
        for step in range(5):
            opt.zero_grad()
            net(torch.randn(8, 4)).mean().backward()
            opt.step()
        """,
        names={"checkpoint": checkpoint},
        level="advanced",
    )
    assert Packing.was_seen
    assert len(names["runs"]) == 10


@pytest.mark.usefixtures("older")
def test_memory_is_told_by_category_where_nobody_packs(run_cell):
    source = """
        net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1))
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for step in range(3):
            opt.zero_grad()
            net(torch.randn(32, 8)).mean().backward()
            opt.step()
    """
    run, _ = run_cell(source, level="advanced")
    rows = run.series("memory_bytes", name="activations")[1]
    assert max(rows) >= 32 * 16 * 4
    assert not Packing.was_seen
