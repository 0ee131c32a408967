"""This file loads, before a run begins, what torch would load at its first step: no part of the training."""

import time
from collections.abc import Mapping
from typing import Any

from torch.optim import Optimizer

from torchmagic.probes.hooked import load_compiler
from torchmagic.session.interrupts import pass_on


def load_ahead(source: str, names: Mapping[str, Any]) -> int:
    """Load torch's compiler, as an optimizer's first step does, where a step is to be expected.

    Where none is, and one is made after all, torch loads it then, as it does without us.

    Args:
        source: The cell; empty where it is not known.
        names: The user's names.

    Returns:
        Nanoseconds that it took; 0 where nothing was loaded.
    """
    expected = not source or "optim" in source or ".step(" in source
    if not expected and not any(issubclass(type(value), Optimizer) for value in tuple(names.values())):
        return 0
    began = time.perf_counter_ns()
    try:
        loaded = load_compiler()
    except Exception as error:  # noqa: BLE001 - torch says it itself, at the step that needs it
        pass_on(error)
        loaded = True
    return time.perf_counter_ns() - began if loaded else 0
