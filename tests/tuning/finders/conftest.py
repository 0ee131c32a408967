"""This file is the clocks that tests of finders run by, and everything that a finder must leave as it was."""

import contextlib
import multiprocessing
import random
import warnings

import numpy as np
import pytest
import torch


class Clock:
    """A clock that stands still but for what work says that it took."""

    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now

    def work(self, seconds):
        self.now += seconds


@pytest.fixture
def clock():
    return Clock()


def process_state():
    """Return what belongs to the process, and nobody may find changed."""
    return {
        "python": random.getstate(),
        "numpy": [str(each) for each in np.random.get_state()],  # noqa: NPY002 - the global one
        "torch": torch.get_rng_state(),
        "threads": torch.get_num_threads(),
        "filters": list(map(str, warnings.filters)),
        "children": sorted(each.pid for each in multiprocessing.active_children()),
        "grad": torch.is_grad_enabled(),
        "dtype": torch.get_default_dtype(),
    }


@pytest.fixture
def same_process(are_equal):
    """Return a context that checks that the process is afterwards as before: streams, threads, filters, children."""

    @contextlib.contextmanager
    def check():
        before = process_state()
        yield
        after = process_state()
        assert after["children"] == before["children"]
        assert are_equal(after, before)

    return check
