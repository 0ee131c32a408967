"""This file tests that a signal which comes while torchmagic is at work neither is lost nor leaves something behind."""

import signal

import pytest
import torch
from torch import nn
from torch.nn import functional

from torchmagic.debuggers.settings import Settings
from torchmagic.debuggers.watching import Watch
from torchmagic.probes.patches import _slots
from torchmagic.records.note import FailureRecord
from torchmagic.session.session import Session

EVENTS = ("root_begin", "root_end", "loss", "backward_begin", "backward_end", "step_begin", "step_end")


class TimedOutError(Exception):
    """What the user's handler raises."""


class Signals:
    """A probe while which a signal comes: at the first of an event's kind, at a flush, or at the end."""

    def __init__(self, when, number=signal.SIGALRM):
        self.when, self.number, self.told = when, number, False

    def attach(self, taps, _):
        if self.when in EVENTS:
            taps.on(self.when, lambda *_: self.come())

    def flush(self, _):
        if self.when == "flush":
            self.come()

    def detach(self):
        if self.when == "detach":
            self.come()

    def come(self):
        if not self.told:
            self.told = True
            signal.raise_signal(self.number)


@pytest.fixture
def alarm():
    """Have an alarm raise, as a limit of time does."""

    def handler(number, frame):
        raise TimedOutError

    before = signal.signal(signal.SIGALRM, handler)
    yield
    signal.signal(signal.SIGALRM, before)


def train(opt, net, steps=3):
    for _ in range(steps):
        opt.zero_grad()
        functional.cross_entropy(net(torch.randn(8, 4)), torch.randint(2, (8,))).backward()
        opt.step()


@pytest.mark.usefixtures("alarm")
@pytest.mark.parametrize("when", [*EVENTS, "flush"])
def test_what_a_handler_raises_ends_the_users_code_and_no_probe(when):
    net = nn.Linear(4, 2)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    watching = Watch(Settings(save=False), session=Session(), beside=[Signals(when)])
    with watching as run:
        with pytest.raises(TimedOutError):
            train(opt, net)
        assert not watching._taps.listeners.closing
        train(opt, net)
    assert not run.of(FailureRecord)
    assert run.steps >= 3
    assert not _slots


@pytest.mark.parametrize(("number", "error"), [(signal.SIGALRM, TimedOutError), (signal.SIGINT, KeyboardInterrupt)])
@pytest.mark.usefixtures("alarm")
def test_what_comes_while_a_run_is_closed_waits_until_it_is(number, error):
    net = nn.Linear(4, 2)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    watching = Watch(Settings(save=False), session=Session(), beside=[Signals("detach", number)])
    run = watching.start()
    train(opt, net)
    with pytest.raises(error):
        watching.stop()
    assert not _slots
    assert run.status == "ok"
    assert not run.of(FailureRecord)
