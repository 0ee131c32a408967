"""This file tries torch.compile on a copy of a model, in a process of its own.

What the compiler makes hangs on the code of the user's own functions, which a copy of the model shares; it counts there
against the times that they may be compiled, and only throwing away all compiled code would take it back.
"""

import os
import tempfile
import time
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from torchmagic.profiling.forked import UnansweredError, cannot_fork, forked
from torchmagic.profiling.trial import in_turn

# Seconds that compiling and timing may take.
PATIENCE = 60.0
Deed = Callable[[], object]


def try_compiling(
    make: Callable[[], nn.Module], run: Callable[[nn.Module], Deed], *, backend: str = "inductor"
) -> dict[str, Any] | None:
    """Return how a compiled copy of a model did against a plain one; None where a run takes too long to be repeated.

    Args:
        make: Makes a copy of the model.
        run: Gives what is timed of a copy.
        backend: The compiler, by the name that torch gives it.

    Returns:
        The fields of an ``Outcome``, and as ``preparation`` the seconds that compiling took.

    Raises:
        UnansweredError: If it cannot be tried here; the message says why.
        OSError: If there is no room for another process.
    """
    if reason := cannot_fork():
        raise UnansweredError(reason)
    with tempfile.TemporaryDirectory(prefix="torchmagic-compile-", ignore_cleanup_errors=True) as folder:
        answer: dict[str, Any] | None = forked(lambda: _compiled(make, run, backend, folder), patience=PATIENCE)
    return answer


def _compiled(
    make: Callable[[], nn.Module], run: Callable[[nn.Module], Deed], backend: str, folder: str
) -> dict[str, Any] | None:
    """Compile and time, in the process that was forked off: all that it changes ends with it."""
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = folder
    os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "1"  # or it would start processes, or ask those of the other process
    from torch._inductor import config  # noqa: PLC0415 - reads the environment as it is loaded

    with config.patch(compile_threads=1):
        plain = run(make())
        compiled = run(torch.compile(make(), backend=backend))  # type: ignore[arg-type] # a module gives a module
        usual = _seconds(plain)
        preparation = max(0.0, _seconds(compiled) - usual)
        outcome = in_turn(plain, compiled)
    return None if outcome is None else {**outcome._asdict(), "preparation": preparation}


def _seconds(deed: Deed) -> float:
    began = time.perf_counter()
    deed()
    return time.perf_counter() - began
