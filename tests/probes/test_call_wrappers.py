"""This file tests the call of a module under watching: as deep as without it, and with the frames it has without."""

import sys
import traceback
from threading import Thread

import pytest
import torch
from torch import nn
from torch.nn import functional

from torchmagic import watch
from torchmagic.probes.taps import Taps

# Those who listen want some frames of their own where the deepest module is called.
FOR_LISTENERS = 6


class Around(nn.Module):
    """A module around another one, or around nothing."""

    def __init__(self, inner=None):
        super().__init__()
        self.inner = inner

    def forward(self, x):
        return x if self.inner is None else self.inner(x)


class Endless(nn.Module):
    """A module that calls itself."""

    def __init__(self):
        super().__init__()
        self.top = nn.Linear(4, 2)

    def forward(self, x):
        return self.top(self(x))


class Failing(nn.Module):
    """A module that fails, inside one that does not let it."""

    def __init__(self):
        super().__init__()
        self.inner, self.caught = Around(Around(nn.Linear(3, 2))), []

    def forward(self, x):
        try:
            return self.inner(x)
        except RuntimeError as error:
            self.caught = places(error)
        return x


def places(error):
    entries = traceback.extract_tb(error.__traceback__)
    return [(each.filename, each.lineno, each.colno, each.end_colno, each.name) for each in entries]


def nest(depth):
    chain = None
    for _ in range(depth):
        chain = Around(chain)
    return nn.Sequential(chain, nn.Linear(4, 2))


def train(net, steps=3):
    x, y = torch.randn(8, 4), torch.zeros(8, dtype=torch.long)
    opt = torch.optim.SGD(net[1].parameters(), lr=0.1)
    for _ in range(steps):
        opt.zero_grad()
        functional.cross_entropy(net(x), y).backward()
        opt.step()


def is_too_deep(depth):
    try:
        train(nest(depth), steps=1)
    except RecursionError:
        return True
    return False


@pytest.mark.parametrize("level", ["basic", "advanced"])
def test_a_model_is_nested_as_deep_as_without_watching(level):
    deepest = 40
    while not is_too_deep(deepest + 1):
        deepest += 1
    limit = sys.getrecursionlimit()
    with watch(level=level, save=False) as run:
        train(nest(deepest - FOR_LISTENERS))
    assert run.steps == 3
    assert sys.getrecursionlimit() == limit


def test_an_endless_recursion_ends_as_without_watching():
    x, limit = torch.randn(8, 4), sys.getrecursionlimit()
    with watch(save=False), pytest.raises(RecursionError):
        Endless()(x)
    assert sys.getrecursionlimit() == limit


@pytest.mark.parametrize("level", ["basic", "advanced"])
def test_what_a_forward_catches_has_the_traceback_that_it_has_without_watching(level):
    net, x = Failing(), torch.randn(8, 4)
    net(x)
    bare = net.caught
    with watch(level=level, save=False):
        net(x)
    assert net.caught == bare
    assert len(bare) == 10


@pytest.mark.parametrize("level", ["basic", "advanced"])
def test_what_is_caught_around_a_model_has_the_traceback_that_it_has_without_watching(level):
    def caught():
        with pytest.raises(RuntimeError) as error:
            Around(nn.Linear(3, 2))(torch.randn(8, 4))
        return places(error.value)

    bare = caught()
    with watch(level=level, save=False):
        assert caught() == bare
    assert len(bare) == 7


def test_a_class_may_have_an_implementation_of_its_own():
    class Doubled(Around):
        def _call_impl(self, *args, **kwargs):
            return 2 * super()._call_impl(*args, **kwargs)

    with watch(save=False):
        assert Around(Doubled())(torch.ones(2)).tolist() == [2.0, 2.0]


def test_a_module_may_be_given_what_is_called_self_or_nothing_by_position():
    class Named(nn.Module):
        def forward(self, *, module, taps=3):
            return module + taps

    with watch(save=False):
        assert Named()(module=4) == 7


def test_what_was_compiled_is_called_in_the_place_of_what_was_written():
    net = Around(Around())
    net.inner._compiled_call_impl = lambda x: x + 1
    with watch(save=False):
        assert net(torch.ones(1)).item() == net.inner(torch.ones(1)).item() == 2.0
    assert net(torch.ones(1)).item() == 2.0


def test_two_runs_that_are_open_see_each_the_call():
    net = nest(3)
    with watch(save=False) as outer, watch(level="advanced", save=False) as inner:
        train(net)
    assert (outer.steps, inner.steps) == (3, 3)


def test_what_another_thread_calls_is_in_no_model():
    class Stack(nn.Module):
        def forward(self, x):
            found.append([type(each).__name__ for each in taps.stack])
            return x

    class Threaded(nn.Module):
        def __init__(self):
            super().__init__()
            self.top, self.beside, self.inside = nn.Linear(2, 2), Stack(), Around(Stack())

        def forward(self, x):
            thread = Thread(target=self.beside, args=(x,))
            thread.start()
            thread.join()
            return self.inside(x)

    found, taps = [], Taps(on_failure=print)
    taps.open()
    try:
        taps.sees_modules = True
        Threaded()(torch.ones(2))
    finally:
        taps.close()
    assert found == [["Threaded"], ["Threaded", "Around", "Stack"]]


@pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")
@pytest.mark.parametrize("level", ["basic", "advanced"])
def test_a_frozen_script_that_has_no_mode_may_be_what_is_called_first(level):
    net = torch.jit.freeze(torch.jit.script(nn.Sequential(nn.Linear(4, 2), nn.ReLU()).eval()))
    with watch(save=False, level=level):
        assert net(torch.ones(2, 4)).shape == (2, 2)
        with torch.no_grad():
            assert net(torch.ones(2, 4)).shape == (2, 2)
