"""This file tests the trials of cures: what they tell, and that they leave no trace."""

import random

import pytest
import torch
from torch import nn

from torchmagic.debuggers.settings import Settings
from torchmagic.debuggers.watching import Watch
from torchmagic.profiling import compile_trial, trial
from torchmagic.profiling.facts import facts
from torchmagic.profiling.trial import in_turn
from torchmagic.records.note import FailureRecord, NoteRecord
from torchmagic.records.speed import VerifiedRecord
from torchmagic.session.session import Session


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.Dropout(), nn.Flatten(), nn.Linear(144, 2))
        self.calls = []

    def forward(self, x):
        self.calls.append(x.shape)
        return {"y": self.body(x), "shape": x.shape}


def train(net, *, verify):
    opt = torch.optim.AdamW(net.parameters(), lr=0.01)
    names = {"net": net, "opt": opt}
    beside = facts(names, verify=verify)
    watching = Watch(Settings(save=False, only=("performance",)), namespace=names, session=Session(), beside=beside)
    run = watching.start()
    for _ in range(4):
        opt.zero_grad()
        net(torch.randn(4, 1, 8, 8))["y"].square().mean().backward()
        opt.step()
    gradients = [each.grad.clone() for each in net.parameters()]
    watching.stop()
    assert not run.of(FailureRecord)
    assert all(torch.equal(each.grad, known) for each, known in zip(net.parameters(), gradients, strict=True))
    return run, opt


@pytest.fixture(autouse=True)
def few(monkeypatch):
    monkeypatch.setattr(trial, "MOST", 4)
    monkeypatch.setattr(compile_trial, "PATIENCE", 0.0)  # compiling takes half a minute


def made(*, verify):
    torch.manual_seed(0)
    random.seed(0)
    net = Net()
    run, opt = train(net, verify=verify)
    return net, opt, run, (torch.rand(1).item(), random.random())  # noqa: S311 - what comes next of both streams


def test_each_cure_is_told_with_what_it_took():
    *_, run, _ = made(verify=True)
    found = {each.cure: each for each in run.of(VerifiedRecord)}
    assert set(found) == {"bfloat16", "channels_last", "fused"}
    assert {each.subject for each in found.values()} == {"net", "opt"}
    assert all(each.trials == 4 and each.before > 0 and each.after > 0 <= each.spread for each in found.values())


def test_the_users_objects_and_random_numbers_are_as_without_it():
    plain, plain_opt, _, plain_next = made(verify=False)
    net, opt, _, coming = made(verify=True)
    assert coming == plain_next
    assert net.calls == plain.calls
    for left, right in zip(net.state_dict().values(), plain.state_dict().values(), strict=True):
        assert torch.equal(left, right)
    for left, right in zip(opt.state.values(), plain_opt.state.values(), strict=True):
        assert all(torch.equal(left[name], right[name]) for name in left)


def test_without_being_asked_for_nothing_is_tried():
    *_, run, _ = made(verify=False)
    assert not run.of(VerifiedRecord)


def test_a_model_that_cannot_be_run_again_is_said():
    class Once(Net):
        def forward(self, x):
            if len(self.calls) >= 4:
                raise RuntimeError("only four times")
            return super().forward(x)

    run, _ = train(Once(), verify=True)
    note, compiling = (each.text for each in run.of(NoteRecord))
    assert note == "The cure bfloat16 could not be tried on a copy of net (RuntimeError: only four times)."
    assert compiling == "The cure torch.compile could not be tried on a copy of net (it took longer than 0 s)."
    assert [each.cure for each in run.of(VerifiedRecord)] == ["fused"]


def test_hooks_of_the_users_are_not_called():
    net, called = Net(), []
    net.body[0].register_forward_hook(lambda *_: called.append(1))
    train(net, verify=True)
    assert len(called) == 4


@pytest.mark.parametrize(("before", "after", "faster"), [(60_000, 6_000, True), (6_000, 60_000, False)])
def test_what_is_faster_comes_out_as_faster(before, after, faster):
    found = in_turn(lambda: sum(range(before)), lambda: sum(range(after)))
    assert (found.after < found.before) is faster


def test_what_takes_too_long_is_not_repeated(monkeypatch):
    monkeypatch.setattr(trial, "PATIENCE", 0.0)
    ran = []
    assert in_turn(lambda: ran.append("before"), lambda: ran.append("after")) is None
    assert ran == ["before", "after"]
