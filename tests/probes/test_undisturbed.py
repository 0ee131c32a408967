"""This file tests that code which runs a second time leaves no trace: what models hold and use, and random streams."""

import collections
import random
import warnings

import numpy as np
import pytest
import torch
from torch import nn

from torchmagic.probes.undisturbed import undisturbed

LOG: list[int] = []
SOURCE = torch.Generator()


class Meter:
    def __init__(self):
        self.values, self.total = [], torch.zeros(1)

    def update(self):
        self.values.append(1)
        self.total += 1


class Busy(nn.Module):
    """Changes what it holds in every way that a forward may."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.register_buffer("seen", torch.zeros(2))
        self._log, self.nest, self.queue = [], {"a": [[]]}, collections.deque([1], maxlen=2)
        self.names, self.pair, self.plain = {"x"}, ([], 1), torch.ones(3)
        self.inside = [torch.ones(2)]
        self.calls, self.meter = 0, Meter()
        self.own, self.rng = torch.Generator().manual_seed(1), np.random.default_rng(1)
        self.old, self.dice = np.random.RandomState(1), random.Random(1)  # noqa: S311 - no secret

    @property
    def draws(self):
        """One number of each stream."""
        return (
            torch.rand(1, generator=self.own).item(), self.rng.random(), self.old.rand(), self.dice.random(),
            torch.rand(1, generator=SOURCE).item(), torch.rand(1).item(), np.random.rand(), random.random(),  # noqa: NPY002, S311
        )  # fmt: skip

    def forward(self, x):
        self._log.append(1)
        self.nest["a"][0].append(1)
        self.nest["b"] = 2
        self.queue.append(2)
        self.names.add("y")
        self.pair[0].append(1)
        self.plain.mul_(0.5)
        self.inside[0].mul_(0.5)
        self.seen += 1
        self.calls += 1
        self.meter.update()
        LOG.append(1)
        self.late = self.draws
        return self.linear(x)


def state(net):
    """Return all that ``Busy`` changes, as plain values."""
    tensors = [each.tolist() for each in (net.plain, net.inside[0], net.seen, net.meter.total)]
    held = repr((net._log, net.nest, list(net.queue), sorted(net.names), net.pair, net.calls, net.meter.values, LOG))
    return tensors, held, hasattr(net, "late")


def test_all_that_a_forward_changes_is_put_back():
    net = Busy()
    objects = {id(each) for each in (net.plain, net.inside[0], net.seen, net._log, net.nest, net.meter.total)}
    before = state(net)
    with undisturbed(net.modules()):
        net(torch.ones(2, 4))
        assert state(net) != before
    assert state(net) == before
    assert {id(each) for each in (net.plain, net.inside[0], net.seen, net._log, net.nest, net.meter.total)} == objects
    assert net.plain._version == 0  # it was a copy that changed, which a graph that saved the tensor does not notice


def test_every_random_stream_stands_where_it_stood():
    net, again = Busy(), Busy()
    for each in (0, 1):
        torch.manual_seed(each), np.random.seed(each), random.seed(each), SOURCE.manual_seed(each)  # noqa: NPY002
        if each == 0:
            with undisturbed(net.modules()):
                first = net.draws
            assert net.draws == first
    assert again.draws != first


def test_who_goes_through_a_dict_meanwhile_is_not_stopped():
    net = nn.Module()
    net.parts = {"a": torch.ones(1), "b": torch.ones(1)}
    for name in net.parts:
        with undisturbed([net]):
            net.parts[name].mul_(2)
    assert [each.item() for each in net.parts.values()] == [1, 1]


def test_what_was_raised_changes_nothing():
    net = Busy()
    before = state(net)
    with pytest.raises(RuntimeError), undisturbed(net.modules()):
        net(torch.ones(2, 5))
    assert state(net) == before


def test_hooks_of_the_users_on_saved_tensors_are_not_called():
    packed = []
    net = nn.Linear(4, 1)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: (packed.append(1), t)[1], lambda t: t):
        with undisturbed([net]):
            (gradient,) = torch.autograd.grad(net(torch.ones(2, 4)).exp().sum(), [net.bias])
        assert not packed
        net(torch.ones(2, 4)).exp()
    assert packed
    assert gradient.isfinite().all()


class Proxy:
    """Says that it is a tensor, and runs code of its own whenever an attribute is asked for."""

    def __init__(self, asked):
        object.__setattr__(self, "asked", asked)

    def __getattribute__(self, name):
        object.__getattribute__(self, "asked").append(name)
        return torch.Tensor if name == "__class__" else None


def test_objects_with_ways_of_their_own_are_not_asked():
    net, asked = nn.Linear(2, 2), []
    net.proxy = Proxy(asked)
    asked.clear()  # torch asked
    with undisturbed([net]):
        pass
    assert asked == []


def test_a_dict_whose_keys_are_tensors_is_put_back():
    net, first, second = nn.Linear(2, 2), torch.ones(2), torch.ones(2)
    net.seen = {first: 1}
    with undisturbed([net]):
        del net.seen[first]
        net.seen[second] = 1
    assert [key is first for key in net.seen] == [True]


def test_a_second_run_does_not_make_python_forget_what_it_has_warned_of():
    net = nn.BatchNorm1d(2)
    registry = {}
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("default")
        for _ in range(2):
            warnings.warn_explicit("once", UserWarning, "library.py", 1, registry=registry)
            with undisturbed([net]):
                net(torch.ones(3, 2))
    assert len(shown) == 1
