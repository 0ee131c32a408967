"""This file tests that what is replaced is put back by runs that begin and end in several threads at the same time."""

import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from torch import nn
from torch.nn import functional

from torchmagic.probes.patches import Patches

ROUNDS = 800


@pytest.fixture
def eager_threads():
    """Have threads take turns so often that they meet between any two lines."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


def wrap(original):
    def wrapper(*args, **kwargs):
        return original(*args, **kwargs)

    return wrapper


@pytest.mark.usefixtures("eager_threads")
def test_runs_of_several_threads_leave_all_as_it_was():
    before = nn.Module.__call__, functional.relu.__code__, torch.sigmoid

    def begin_and_end():
        for _ in range(ROUNDS):
            patches = Patches()
            patches.replace(nn.Module, "__call__", wrap)
            patches.replace(functional, "relu", wrap)
            patches.replace(torch, "sigmoid", wrap)
            patches.undo()

    with ThreadPoolExecutor(4) as threads:
        each = [threads.submit(begin_and_end) for _ in range(4)]
    assert [one.exception() for one in each] == [None] * 4
    assert (nn.Module.__call__, functional.relu.__code__, torch.sigmoid) == before
