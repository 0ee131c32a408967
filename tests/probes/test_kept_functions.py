"""This file tests that torch's functions, kept by programs before or in a run, are torch's own in it and after it."""

import copy
import inspect
import io
import pickle
import pickletools
import sys
from functools import partial

import pytest
import torch
from torch import nn
from torch.nn import functional
from torch.utils.data import TensorDataset

from torchmagic.debuggers.watching import watch
from torchmagic.probes.hooked import REPLACED, SEEN
from torchmagic.records.loss import LossRecord


def now():
    """Return what names of functions stand for at present."""
    by_torch = torch.relu, torch.tanh, torch.softmax
    return [*by_torch, functional.relu, functional.cross_entropy, functional.softplus, nn.init.ones_]


OWN, OWN_CALL = now(), nn.Module.__call__


def train(net, loss=functional.cross_entropy, steps=3):
    torch.manual_seed(0)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(steps):
        optimizer.zero_grad()
        loss(net(torch.randn(8, 5)), torch.randint(0, 3, (8,))).backward()
        optimizer.step()


class Keeper(nn.Module):
    """Keeps functions in every way there is; one that is written in C is not bound where a class has it."""

    def __init__(self, by_default, kept):
        super().__init__()
        self.linear, self.kept, self.by_default = nn.Linear(5, 3), kept, by_default

    def forward(self, x):
        return self.by_default(self.kept(self.of_the_class(self.linear(x))))


def keep():
    """Keep what the names stand for now."""
    relu, tanh, softmax, relu_in_python, cross_entropy, softplus, ones = now()

    def by_default(x, function=tanh):
        return function(x)

    closure = softmax
    keeper = type("Kept", (Keeper,), {"of_the_class": relu})(by_default, relu_in_python)
    parts = partial(softmax, dim=1), (lambda x: closure(x, 1)), {"loss": cross_entropy}, [softplus, ones]
    return keeper, parts


def kept_by(keeper, parts):
    part, function, table, listed = parts
    yield from (type(keeper).of_the_class, keeper.by_default.__defaults__[0], keeper.kept)
    yield from (part.func, function.__closure__[0].cell_contents, table["loss"], *listed)


WANTED = [OWN[0], OWN[1], OWN[3], OWN[2], OWN[2], OWN[4], OWN[5], OWN[6]]


@pytest.mark.parametrize("level", ["basic", "expert"])
def test_what_a_program_keeps_in_a_run_is_torchs_own_after_it(level):
    bare, _ = keep()
    with watch(save=False, level=level, every=1) as run:
        keeper, parts = keep()
        keeper.load_state_dict(bare.state_dict())
        train(keeper, parts[2]["loss"])
        assert inspect.signature(functional.cross_entropy).parameters["reduction"].default == "mean"
        assert "relu_" in inspect.getsource(functional.relu)
    train(bare)
    assert all(kept is own for kept, own in zip(kept_by(keeper, parts), WANTED, strict=True))
    assert all(current is own for current, own in zip(now(), OWN, strict=True))
    assert torch.equal(keeper.linear.weight, bare.linear.weight)
    assert len(run.series("loss")[0]) == 3


@pytest.mark.parametrize("save", [torch.save, pickle.dump])
def test_what_was_kept_before_a_run_is_saved_in_it(save):
    model = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    data = TensorDataset(torch.zeros(2))
    data.transform = functional.softmax
    with watch(save=False, level="expert"):
        train(nn.Linear(5, 3))
        for each in (model, data, nn.TransformerEncoderLayer(8, 2), *OWN, *now()):
            save(each, io.BytesIO())
            copy.deepcopy(each)
        text = pickle.dumps(now())
        assert all(current is own for current, own in zip(copy.deepcopy(now()), OWN, strict=True))
    assert not any("torchmagic" in str(value) for _, value, _ in pickletools.genops(text))
    assert all(loaded is own for loaded, own in zip(pickle.loads(text), OWN, strict=True))  # noqa: S301 - our own


def test_a_loss_that_was_imported_by_name_or_kept_before_a_run_is_seen_in_it():
    seen = functional.cross_entropy
    with watch(save=False) as run:
        train(nn.Linear(5, 3), seen)
    assert [loss.name for loss in run.of(LossRecord)] == ["cross_entropy"]


def test_no_function_is_watched_twice_because_it_has_two_names():
    for owner in (functional, nn.init):
        names = [name for place, name, _ in REPLACED if place is owner]
        names += {name for _, places in SEEN.values() for place, name in places if place is owner}
        known = [getattr(owner, name) for name in set(names)]
        assert len({id(each) for each in known}) == len(known)


@pytest.mark.parametrize("level", ["basic", "expert"])
def test_where_nothing_is_kept_nothing_is_searched(level, monkeypatch):
    searched = []
    monkeypatch.setattr("gc.get_referrers", lambda *objects: searched.append(objects) or [])
    with watch(save=False, level=level, without=["memory"]):
        train(nn.Linear(5, 3), steps=30)
    assert not searched


def test_what_only_a_cell_has_a_name_for_is_given_back_without_a_search(monkeypatch):
    searched = []
    monkeypatch.setattr("gc.get_referrers", lambda *objects: searched.append(objects) or [])
    main, own = sys.modules["__main__"], nn.utils.clip_grad_norm_
    with watch(save=False, without=["memory"]):
        monkeypatch.setattr(main, "kept", [None], raising=False)  # put back in the end
        main.kept = nn.utils.clip_grad_norm_
        assert main.kept is not own
        train(nn.Linear(5, 3))
    assert main.kept is own
    assert not searched


def methods():
    """Return methods that stand for others in a run."""
    return [
        nn.Module.__call__,
        nn.Module.train,
        nn.Module.zero_grad,
        torch.optim.Optimizer.zero_grad,
        torch.autograd.backward,
    ]


@pytest.fixture
def call():
    """Have the call of modules put back."""
    yield nn.Module.__call__
    nn.Module.__call__ = OWN_CALL


@pytest.mark.usefixtures("call")
@pytest.mark.parametrize("level", ["basic", "expert"])
def test_methods_that_a_program_keeps_to_put_its_own_around_them_are_torchs_own_afterwards(level):
    own, called = methods(), []
    with watch(save=False, level=level):
        kept = methods()
        call = nn.Module.__call__

        def around(module, *args, **kwargs):
            called.append(module)
            return call(module, *args, **kwargs)

        nn.Module.__call__ = around
        train(nn.Linear(5, 3))
    assert kept == own
    assert call is own[0]
    assert nn.Module.__call__ is around  # what the user put there stays
    assert called
