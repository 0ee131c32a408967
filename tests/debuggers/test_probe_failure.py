"""This file tests that a probe of ours that fails does not disturb the loop."""

import warnings
import weakref
from enum import Enum
from types import SimpleNamespace

import pytest
import torch
from torch import nn

from torchmagic.debuggers.settings import Settings
from torchmagic.debuggers.watching import Watch
from torchmagic.records.model import ModelRecord
from torchmagic.records.note import FailureRecord
from torchmagic.session.session import Session


class Failing:
    """A probe that raises where it is told to."""

    def __init__(self, where):
        self.where, self.calls, self.detached = where, 0, 0

    def attach(self, taps, _recorder):
        self._fail("attach")
        taps.on("step_begin", self.event)
        taps.on("backward_end", self.event)

    def event(self, *_arguments):
        self.calls += 1
        self._fail("event")

    def flush(self, _step):
        self.calls += 1
        self._fail("flush")

    def detach(self):
        self.detached += 1
        self._fail("detach")

    def _fail(self, where):
        if self.where in (where, "everywhere"):
            raise ZeroDivisionError(where)


def train(probe):
    """Train under a watch that has one more probe; return the run, the weights and the warnings."""
    torch.manual_seed(0)
    net = nn.Linear(4, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    watching = Watch(Settings(save=False), session=Session(), beside=(probe,))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        run = watching.start()
        for _ in range(5):
            opt.zero_grad()
            net(torch.randn(8, 4)).pow(2).mean().backward()
            opt.step()
        watching.stop()
    return run, net.weight.detach().clone(), caught


@pytest.mark.parametrize("where", ["attach", "event", "flush", "detach", "everywhere"])
def test_the_loop_goes_on_and_the_failure_is_recorded_and_told_once(where):
    probe = Failing(where)
    run, weights, caught = train(probe)
    assert (run.status, run.steps) == ("ok", 5)
    assert torch.equal(weights, train(Failing("nowhere"))[1])
    (record,) = run.of(FailureRecord)
    assert record.probe == "Failing"
    assert record.error.startswith("ZeroDivisionError")
    assert record.where
    (warning,) = caught
    assert warning.category is RuntimeWarning
    assert "Failing failed and is off for this run (ZeroDivisionError: " in str(warning.message)


@pytest.mark.parametrize("where", ["event", "flush"])
def test_a_probe_that_failed_is_detached_and_hears_no_more(where):
    probe = Failing(where)
    train(probe)
    assert probe.detached == 1
    assert probe.calls == (1 if where == "event" else probe.calls)
    assert probe.calls <= 3


def test_the_other_probes_go_on():
    run, _, _ = train(Failing("event"))
    assert len(run.series("loss")[0]) == 5
    assert len(run.series("grad_norm", name="")[0]) == 5


def test_the_warning_names_the_users_line():
    _, _, caught = train(Failing("event"))
    assert caught[0].filename == __file__


def test_a_callback_that_fails_is_a_failure_too_and_is_called_no_more():
    calls = []

    def on_step(run):
        calls.append(run.steps)
        raise ZeroDivisionError

    net = nn.Linear(4, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    watching = Watch(Settings(save=False), session=Session(), on_step=on_step)
    watching.start()
    net(torch.randn(8, 4)).sum().backward()
    with pytest.warns(RuntimeWarning, match="failed and is off"):
        opt.step()
    for _ in range(3):
        net(torch.randn(8, 4)).sum().backward()
        opt.step()
    run = watching.stop()
    assert calls == [1]
    assert len(run.of(FailureRecord)) == 1
    assert run.steps == 4


def test_where_warnings_are_errors_the_end_of_a_run_raises_none():
    watching = Watch(Settings(save=False), session=Session(), beside=(Failing("detach"),))
    watching.start()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert watching.stop().status == "ok"


NAMELESS = """
import torch
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.BatchNorm1d(8), nn.Dropout(0.1), nn.Linear(8, 2))
    def forward(self, x):
        return self.body(x)
class Steps(torch.optim.SGD):
    def step(self, closure=None):
        return super().step(closure)
net = Net()
opt = Steps(net.parameters(), lr=0.1)
x, y = torch.randn(16, 4), torch.randint(0, 2, (16,))
for _ in range(20):
    opt.zero_grad()
    nn.functional.cross_entropy(net(x), y).backward()
    opt.step()
    with torch.no_grad():
        net(x)
"""


def test_classes_that_code_without_a_name_makes_are_watched_as_any(recwarn):
    """Code that is run in a bare dict makes classes that belong to no module."""
    with Watch(Settings(save=False, level="expert"), session=Session()) as run:
        exec(NAMELESS, {})  # noqa: S102 - as a user does
    assert run.of(FailureRecord) == []
    assert run.steps == 20


class Silent:
    """Says nothing of itself, as a proxy outside of its request."""

    def __getattribute__(self, name):
        raise RuntimeError(name)


class Sly(dict):
    """A dict that is none where it is asked."""

    def items(self):
        raise RuntimeError

    values = keys = __iter__ = items


class Sequence(list):
    """A list that is none where it is gone through."""

    def __iter__(self):
        raise RuntimeError

    __getitem__ = __len__ = __iter__


class Key:
    """A key that cannot be shown."""

    def __repr__(self):
        raise RuntimeError


class Place(Enum):
    """A key that says what it is."""

    HEAD = 1


def gone():
    return weakref.proxy(nn.Linear(1, 1))


@pytest.mark.parametrize("level", ["basic", "expert"])
@pytest.mark.parametrize(
    "names",
    [
        {"request": Silent()},
        {"models": {Key(): gone(), Place.HEAD: nn.Linear(1, 1)}},
        {"gone": gone()},
        {"held": [gone(), Silent()], "owner": SimpleNamespace(proxy=Silent(), models={"a": gone()}, kept=[[gone()]])},
        {
            "sly": Sly(a=1),
            "list": Sequence([1]),
            "in": [Sequence([2])],
            "keys": {Silent: 1, 1.5: 2},
            "Out": {1: gone()},
            "_": Silent(),
        },
    ],
)
def test_names_that_do_not_say_what_they_are_are_left_alone(names, level):
    net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
    opt = torch.optim.Adam(net.parameters())
    namespace = {**names, "net": net, "opt": opt}
    with Watch(Settings(save=False, level=level), namespace=namespace, session=Session()) as run:
        for _ in range(10):
            opt.zero_grad()
            nn.functional.cross_entropy(net(torch.randn(8, 4)), torch.randint(0, 2, (8,))).backward()
            opt.step()
    assert run.of(FailureRecord) == []
    assert [each.name for each in run.of(ModelRecord)] == ["net"]


def test_a_model_in_a_dict_is_called_by_its_key():
    net = nn.Linear(4, 2)
    with Watch(Settings(save=False, level="basic"), namespace={"nets": {Place.HEAD: net}}, session=Session()) as run:
        net(torch.randn(3, 4)).sum().backward()
    assert [each.name for each in run.of(ModelRecord)] == [f"nets[{Place.HEAD!r}]"]
