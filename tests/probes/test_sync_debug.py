"""This file tests that the user's mode about waits for CUDA is theirs alone: it is off while torchmagic looks.

There is no CUDA here: functions stand in for torch's, which do nothing but keep the mode.
"""

from types import SimpleNamespace

import pytest
import torch
from torch import nn

from torchmagic.debuggers.settings import Settings
from torchmagic.debuggers.watching import Watch, watch
from torchmagic.probes import sync_debug
from torchmagic.probes.sync_debug import SYNC_DEBUG
from torchmagic.probes.taps import Taps


@pytest.fixture
def modes(monkeypatch):
    """The mode as torch has it, in a list of one."""
    held = [0]
    cuda = SimpleNamespace(is_initialized=lambda: True, get_sync_debug_mode=lambda: held[0])
    c = SimpleNamespace(_cuda_set_sync_debug_mode=lambda mode: held.__setitem__(0, mode))
    monkeypatch.setattr(sync_debug, "torch", SimpleNamespace(cuda=cuda, _C=c))
    monkeypatch.setattr(torch.cuda, "set_sync_debug_mode", c._cuda_set_sync_debug_mode)
    yield held
    SYNC_DEBUG.mode = 0


class Probe:
    """Notes in which mode it is called."""

    def __init__(self, held):
        self.held, self.seen = held, []

    def attach(self, taps, _recorder):
        taps.on("root_begin", lambda *_: self.look())

    def flush(self, _step):
        self.look()

    def detach(self):
        self.look()

    def look(self):
        self.seen.append(self.held[0])


def train():
    net = nn.Linear(2, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(3):
        opt.zero_grad()
        net(torch.ones(1, 2)).sum().backward()
        opt.step()


def test_a_mode_that_was_set_before_the_run_is_off_while_probes_look(modes):
    torch.cuda.set_sync_debug_mode(2)
    probe = Probe(modes)
    with Watch(Settings(save=False), beside=(probe,)):
        train()
        assert modes == [2]
    assert len(probe.seen) == 7
    assert set(probe.seen) == {0}
    assert modes == [2]


def test_a_mode_that_is_set_in_the_run_is_off_while_probes_look(modes):
    probe = Probe(modes)
    with Watch(Settings(save=False), beside=(probe,)):
        train()
        torch.cuda.set_sync_debug_mode(1)
        train()
        assert modes == [1]
        torch.cuda.set_sync_debug_mode(0)
        assert modes == [0]
        train()
    assert set(probe.seen) == {0}
    assert modes == [0]


def test_it_comes_back_where_a_listener_raises(modes):
    torch.cuda.set_sync_debug_mode(2)
    taps = Taps(on_failure=lambda *_: None)

    def raises(*_):
        raise ValueError("no")

    taps.on("root_begin", raises)
    taps.open()
    nn.Linear(2, 1)(torch.ones(1, 2))
    taps.close()
    assert modes == [2]


@pytest.mark.usefixtures("modes")
def test_cuda_is_not_opened_to_ask(monkeypatch):
    monkeypatch.setattr(sync_debug.torch.cuda, "is_initialized", lambda: False)
    monkeypatch.setattr(sync_debug.torch.cuda, "get_sync_debug_mode", lambda: pytest.fail("opened"))
    with watch(save=False):
        train()
