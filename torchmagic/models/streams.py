"""This file is everything global that a forward may use up or switch: random number streams, modes, warnings, print."""

import contextlib
import io
import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch

from torchmagic.session.ignored_warnings import untouched_warnings
from torchmagic.tensors import accelerators


@contextlib.contextmanager
def untouched_globals() -> Iterator[None]:
    """Put the global random number streams, torch's default dtype and autocast back as they were; swallow prints."""
    backs = [*random_states(), *_switches()]
    try:
        with untouched_warnings(), contextlib.redirect_stdout(io.StringIO()):
            yield
    finally:
        for back in backs:
            back()


def random_states() -> Iterator[Callable[[], Any]]:
    """Yield, for each global stream of random numbers that is in use, what puts it back to where it is now."""
    python, numpy, cpu = random.getstate(), np.random.get_state(), torch.get_rng_state()  # noqa: NPY002 - the global one
    yield lambda: random.setstate(python)
    yield lambda: np.random.set_state(numpy)  # noqa: NPY002
    yield lambda: torch.set_rng_state(cpu)
    devices = accelerators.streams()
    yield lambda: accelerators.put_back(devices)


def _switches() -> Iterator[Callable[[], Any]]:
    default = torch.get_default_dtype()
    yield lambda: torch.set_default_dtype(default)
    for kind in accelerators.autocast_kinds():
        enabled, dtype = torch.is_autocast_enabled(kind), torch.get_autocast_dtype(kind)
        yield lambda kind=kind, enabled=enabled: torch.set_autocast_enabled(kind, enabled)  # type: ignore[misc]
        yield lambda kind=kind, dtype=dtype: torch.set_autocast_dtype(kind, dtype)  # type: ignore[misc]
