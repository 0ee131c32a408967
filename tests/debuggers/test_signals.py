"""This file tests that a signal which comes while torchmagic is at work neither is lost nor leaves something behind."""

import itertools
import signal

import pytest
import torch
from torch import nn
from torch.nn import functional

from torchmagic.debuggers.settings import Settings
from torchmagic.debuggers.watching import Watch
from torchmagic.probes.patches import _slots
from torchmagic.probes.row_comparison import mixed_rows
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


class Alarmed(nn.Module):
    """A model that lets an alarm come when it runs once more than the user asks for; one of its outputs is infinite."""

    def __init__(self, own_runs, *, sick=0):
        super().__init__()
        self.linear = nn.Linear(4, 2)
        self.sick = sick
        self.own_runs = own_runs
        self.runs = itertools.count(1)

    def forward(self, x):
        run = next(self.runs)
        if run == self.own_runs + 1:
            signal.raise_signal(signal.SIGALRM)
        return self.linear(x) / (run != self.sick)


class Alarming(torch.optim.SGD):
    """An optimizer that ruins the weights, and whose copies let an alarm come."""

    def step(self, closure=None):
        super().step(closure)
        for each in self.param_groups[0]["params"]:
            each.data.fill_(torch.inf)

    def __deepcopy__(self, memo):
        signal.raise_signal(signal.SIGALRM)


def by_a_call(opt, net, steps=3):
    """Train so that the statements between model and backward cannot be found."""
    for _ in range(steps):
        opt.zero_grad()
        exec("net(torch.randn(8, 4)).sum().backward()", {"net": net, "torch": torch})  # noqa: S102 - source that nobody has
        opt.step()


@pytest.mark.usefixtures("alarm")
@pytest.mark.parametrize(
    ("net", "kind", "training"),
    [
        (Alarmed(3, sick=3), torch.optim.SGD, train),  # the sick step, run again
        (Alarmed(3, sick=3), torch.optim.SGD, by_a_call),  # the sick model, run again by itself
        (nn.Linear(4, 2), Alarming, train),  # an optimizer's step, made again by its copy
    ],
)
def test_what_comes_while_something_is_tried_again_is_the_users(net, kind, training):
    opt = kind(net.parameters(), lr=0.1)
    with Watch(Settings(save=False), session=Session()) as run, pytest.raises(TimedOutError):
        training(opt, net)
    assert not run.of(FailureRecord)
    assert not _slots


@pytest.mark.usefixtures("alarm")
def test_what_comes_while_a_few_rows_are_tried_is_the_users():
    with pytest.raises(TimedOutError):
        mixed_rows(Alarmed(0), [torch.randn(5, 4)])
