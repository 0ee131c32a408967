"""This file tests that a profile, however it ends, leaves torch, the user's functions and Python as they were."""

import contextlib
import gc
import os
import sys
import threading
import warnings
import weakref

import pytest
import torch
from torch import nn
from torch.optim import optimizer
from torch.utils.data import DataLoader, TensorDataset, dataloader

from torchmagic.profiling.collect import Profiling
from torchmagic.profiling.kineto import is_profiling
from torchmagic.profiling.lines import Lines

PATCHED = (nn.Module, torch.autograd, torch.autograd.profiler.profile, torch.optim.Optimizer, DataLoader, dataloader)
HOOKED = (torch.nn.modules.module, optimizer)


def snapshot():
    return {
        "attributes": {(str(owner), name): id(value) for owner in PATCHED for name, value in vars(owner).items()},
        "hooks": {
            (room.__name__, name): dict(value)
            for room in HOOKED
            for name, value in vars(room).items()
            if name.startswith("_global") and isinstance(value, dict)
        },
        "profiling": is_profiling(),
        "code": (id(train.__code__), id(one_step.__code__)),
        "threads": set(threading.enumerate()),
        "filters": list(warnings.filters),
        "environment": dict(os.environ),
        "trace": (sys.gettrace(), sys.getprofile()),
        "grad mode": torch.is_grad_enabled(),
        "anomaly mode": torch.is_anomaly_enabled(),
    }


def one_step(net, opt, x, y):
    opt.zero_grad()
    loss = nn.functional.cross_entropy(net(x), y)
    loss.backward()
    opt.step()
    return loss


def train(steps, *, error=None):
    net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Dropout(0.1), nn.Linear(8, 3))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    data = TensorDataset(torch.randn(8 * steps, 4), torch.randint(0, 3, (8 * steps,)))
    for step, (x, y) in enumerate(DataLoader(data, batch_size=8)):
        loss = one_step(net, opt, x, y)
        if error is not None and step == steps - 2:
            raise error
    return net, x, loss


RUNS = {
    "cut off by its window": lambda: train(8),
    "ended before its window": lambda: train(2),
    "ended in its window": lambda: train(4),
    "without steps": lambda: nn.Linear(4, 4)(torch.ones(2, 4)),
    "without anything": lambda: None,
    "raising": lambda: train(5, error=KeyError("mine")),
    "raising in its warm-up": lambda: train(3, error=KeyError("mine")),
    "interrupted": lambda: train(6, error=KeyboardInterrupt()),
    "left": lambda: train(6, error=SystemExit(1)),
    "with its own profiler": lambda: (
        torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]).__enter__().__exit__(None, None, None)
    ),
}


@pytest.fixture(autouse=True)
def _warmed_up(profiled):
    """Let torch load what it loads on first use."""
    with profiled(steps=1):
        train(4)


@pytest.mark.parametrize("settings", [{}, {"wait": 1, "warmup": 1}, {"memory": True, "stacks": True, "shapes": True}])
@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
def test_nothing_is_left_after_a_run(run, settings, profiled):
    before = snapshot()
    with (
        contextlib.suppress(KeyError, KeyboardInterrupt, SystemExit),
        profiled(steps=3, namespace=globals(), line_ranges=Lines(), **settings) as seen,
    ):
        run()
    after = snapshot()
    assert not seen.failures
    for part, value in before.items():
        assert after[part] == value, part


def test_nothing_of_the_profile_is_left_in_torch_once_its_window_is_over(profiled):
    bare = nn.Module.__call__
    with profiled(steps=1, warmup=0):
        train(1)
        within = snapshot()
        with profiled(steps=1, warmup=0):
            train(1)
        assert snapshot()["attributes"].keys() == within["attributes"].keys()
        assert not is_profiling()
        assert nn.Module.__call__ is not bare
        assert "range_wrappers.py" not in nn.Module.__call__.__code__.co_filename
        assert "torchmagic" not in torch.autograd.profiler.profile._prepare_trace.__code__.co_filename


def test_no_object_of_the_users_is_kept_alive(profiled):
    with profiled(steps=3, shapes=True, memory=True) as seen:
        refs = [weakref.ref(each) for each in train(8)]
    gc.collect()
    assert [ref() for ref in refs] == [None] * 3
    assert seen.collected.modules


def test_a_model_that_is_gone_leaves_no_range_for_the_next_with_its_identity(profiled):
    with profiled(probe=kept) as seen:
        net = nn.Sequential(nn.Linear(4, 3))
        net(torch.ones(1, 4))
        ranges = kept.probes[-1]._taps.ranges
        assert set(ranges) == {id(net), id(net[0])}
        del net
        gc.collect()
        assert not ranges
    assert [each.class_name for each in seen.collected.modules] == ["Sequential", "Linear"]


def kept(*args, **kwargs):
    kept.probes.append(Profiling(*args, **kwargs))
    return kept.probes[-1]


kept.probes = []


@pytest.mark.parametrize("level", [None, "3"])
def test_what_the_terminal_is_told_of_the_profiler_is_as_it_was(profiled, monkeypatch, level):
    monkeypatch.delenv("KINETO_LOG_LEVEL", raising=False)
    if level is not None:
        monkeypatch.setenv("KINETO_LOG_LEVEL", level)
    with profiled():
        torch.ones(2)
    assert os.environ.get("KINETO_LOG_LEVEL") == level


def test_the_terminal_hears_nothing_of_a_profile(profiled, monkeypatch, capfd):
    monkeypatch.delenv("KINETO_LOG_LEVEL", raising=False)
    with profiled(wait=1, warmup=1, steps=1):
        train(4)
    assert capfd.readouterr().err == ""


def test_a_run_in_which_something_was_compiled_is_not_held_by_tables_that_torch_made_meanwhile(profiled):
    names = {"net": nn.Linear(4, 2)}
    with profiled(namespace=names, steps=2):
        torch.overrides.get_testing_overrides.cache_clear()  # as where nothing was compiled before
        fast = torch.compile(names["net"], backend="eager")
        fast(torch.ones(3, 4))
    alive = weakref.ref(names["net"])
    torch._dynamo.reset()
    del fast
    names.clear()
    gc.collect()
    assert alive() is None
