"""This file tests that a step which calls that of its base class is one step."""

import functools
import warnings

import pytest
import torch
from torch import nn

from torchmagic.debuggers.settings import Settings
from torchmagic.debuggers.watching import Watch
from torchmagic.records.model import OptimizerRecord
from torchmagic.session.session import Session


class Heir(torch.optim.SGD):
    """An optimizer of one's own: it does something of its own, and then what its base class does."""

    def step(self, closure=None):
        return super().step(closure)


class Around(torch.optim.Optimizer):
    """An optimizer around another one over the same parameters, as Lookahead is: it goes half the way."""

    def __init__(self, inner, *, hidden=False):
        super().__init__([each for group in inner.param_groups for each in group["params"]], {})
        self.inner = (lambda: inner) if hidden else inner

    def step(self, closure=None):
        before = [each.detach().clone() for each in self.param_groups[0]["params"]]
        loss = (self.inner if isinstance(self.inner, torch.optim.Optimizer) else self.inner()).step(closure)
        with torch.no_grad():
            for each, old in zip(self.param_groups[0]["params"], before, strict=True):
                each.lerp_(old, 0.5)
        return loss


class Perturbed(torch.optim.Optimizer):
    """Sharpness-aware minimisation, with the second gradient from a closure."""

    def __init__(self, parameters, base, **settings):
        super().__init__(parameters, dict(settings))
        self.base = base(self.param_groups, **settings)

    @torch.no_grad()
    def step(self, closure=None):
        parameters = [each for group in self.param_groups for each in group["params"]]
        moves = [0.05 * each.grad for each in parameters]
        torch._foreach_add_(parameters, moves)
        self.zero_grad()
        with torch.enable_grad():
            loss = closure()
        torch._foreach_sub_(parameters, moves)
        self.base.step()
        return loss


def trained(optimizer, net, *, steps=5):
    for _ in range(steps):
        optimizer.zero_grad()
        net(torch.ones(2, 3)).sum().backward()
        optimizer.step()


@pytest.fixture
def net():
    net = nn.Linear(3, 1)
    torch.optim.SGD(net.parameters(), lr=0.1)  # from here on torch has the step of the base class call the hooks
    return net


def watch():
    return Watch(Settings(save=False, level="basic"), session=Session())


def test_a_step_that_calls_that_of_its_base_class_is_one(net):
    with watch() as run:
        trained(Heir(net.parameters(), lr=0.1), net)
    assert run.steps == 5
    assert len(run.series("grad_norm")[0]) == 5
    assert run.findings == ()


def test_so_is_one_that_was_patched_and_one_of_the_base_class_itself(net, monkeypatch):
    own = torch.optim.SGD.step

    @functools.wraps(own)
    def patched(*given, **named):
        return own(*given, **named)

    monkeypatch.setattr(torch.optim.SGD, "step", patched)
    with watch() as run:
        trained(torch.optim.SGD(net.parameters(), lr=0.1), net)
        trained(Heir(net.parameters(), lr=0.1), net)
    assert run.steps == 10


def test_after_a_step_that_raised_the_next_one_counts(net):
    optimizer = Heir(net.parameters(), lr=0.1)

    def fail():
        raise ZeroDivisionError

    with watch() as run:
        trained(optimizer, net, steps=1)
        with pytest.raises(ZeroDivisionError):
            optimizer.step(fail)
        trained(optimizer, net, steps=2)
    assert run.steps == 3


def test_a_step_that_calls_another_optimizers_is_two(net):
    other = torch.optim.SGD(nn.Linear(3, 1).parameters(), lr=0.1)

    class Both(torch.optim.SGD):
        def step(self, closure=None):
            other.step()
            return super().step(closure)

    with watch() as run:
        trained(Both(net.parameters(), lr=0.1), net)
    assert run.steps == 10


def judged(**settings):
    return Watch(Settings(save=False, level="advanced", **settings), session=Session())


def test_of_an_optimizer_around_another_the_inner_steps(net):
    inner = torch.optim.SGD(net.parameters(), lr=0.01)
    with judged() as run:
        trained(Around(inner), net, steps=20)
    assert run.steps == 20
    assert [each.class_name for each in run.of(OptimizerRecord)] == ["SGD"]
    assert not {each.rule for each in run.findings} & {"step-missing", "lr-zero"}


@pytest.mark.parametrize("scheduled", ["base", "itself"])
def test_so_it_is_with_a_second_gradient_from_a_closure(net, scheduled):
    optimizer = Perturbed(net.parameters(), torch.optim.SGD, lr=0.01)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer.base if scheduled == "base" else optimizer, 10, 0.5)

    def loss_of_it():
        optimizer.zero_grad()
        loss = net(torch.tensor([[1.0, 2.0, 3.0], [0.5, -1.0, 0.0]])).square().sum()
        loss.backward()
        return loss

    with judged() as run:
        for _ in range(40):
            loss_of_it()
            optimizer.step(loss_of_it)
            schedule.step()
    assert run.steps == 40
    assert run.findings == ()


def test_where_the_inner_one_cannot_be_seen_the_outer_one_steps(net):
    inner = torch.optim.SGD(net.parameters(), lr=0.01)
    with judged() as run:
        trained(Around(inner, hidden=True), net, steps=20)
    assert run.steps == 20
    assert [each.class_name for each in run.of(OptimizerRecord)] == ["Around"]
    assert "step-missing" not in {each.rule for each in run.findings}


@pytest.mark.parametrize("hidden", [False, True])
def test_neither_never_steps_where_the_rate_is_zero(net, hidden):
    with judged() as run:
        inner = torch.optim.SGD(net.parameters(), lr=0.0)
        outer = Around(inner, hidden=hidden)
        for _ in range(40):
            inner.zero_grad()
            trained(outer, net, steps=1)
    assert "step-missing" not in {each.rule for each in run.findings}


def test_one_that_has_another_and_does_not_step_it_steps_itself(net):
    class Holder(torch.optim.SGD):
        def __init__(self, parameters, other):
            super().__init__(parameters, lr=0.1)
            self.other = other

    other = torch.optim.Adam(net.parameters())
    with watch() as run:
        trained(Holder(net.parameters(), other), net)
    assert run.steps == 4  # the first one is when it shows
    assert [each.class_name for each in run.of(OptimizerRecord)] == ["Holder"]


def test_after_one_around_another_raised_steps_are_counted_on(net):
    def fail():
        raise ZeroDivisionError

    for hidden in (False, True):
        inner = torch.optim.SGD(net.parameters(), lr=0.01)
        outer = Around(inner, hidden=hidden)
        with watch() as run:
            trained(outer, net, steps=2)
            with pytest.raises(ZeroDivisionError):
                outer.step(fail)
            trained(inner, net, steps=3)
            trained(outer, net, steps=2)
        assert run.steps == 7


def test_of_optimizers_in_a_list_over_parts_of_the_parameters_the_outer_one_steps(net):
    class All(torch.optim.Optimizer):
        def __init__(self, parts):
            super().__init__([each for part in parts for group in part.param_groups for each in group["params"]], {})
            self.parts = parts

        def step(self, closure=None):
            for part in self.parts:
                part.step(closure)

    with watch() as run:
        trained(All([torch.optim.SGD([net.weight], lr=0.1), torch.optim.Adam([net.bias])]), net)
    assert run.steps == 5


def test_groups_that_cannot_be_read_are_not_the_users_trouble(net):
    class Odd(torch.optim.SGD):
        def step(self, closure=None):
            self.other.step(closure)

    class Bare(torch.optim.SGD):
        num_steps = 0

        def step(self, closure=None):
            self.num_steps += closure is None

    inner, outer = Bare(net.parameters(), lr=0.1), Odd(net.parameters(), lr=0.1)
    outer.other, inner.param_groups = inner, None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # probes that cannot go on say so
        with watch():
            for _ in range(3):
                outer.step()
    assert inner.num_steps == 3
