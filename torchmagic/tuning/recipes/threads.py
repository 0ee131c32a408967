"""This file is the recipe for the number of threads that operators run on."""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import psutil
import torch

from torchmagic.analyses.counting import counted
from torchmagic.tuning.modes import OptimizationMode
from torchmagic.tuning.recipe import Recipe
from torchmagic.tuning.setup import Setup, device_of


def _unfit(setup: Setup) -> str:
    if device_of(setup.model).type != "cpu":
        return "the model does not run on the CPU"
    wanted, now = _wanted(setup), torch.get_num_threads()
    return f"operators run on {counted(now, 'thread')} already" if wanted == now else ""


def _wanted(setup: Setup) -> int:
    return int(setup.options.get("num_threads") or physical_cores())


def physical_cores() -> int:
    """Return the number of physical cores that this process may use, at least one."""
    logical, physical = psutil.cpu_count() or 1, psutil.cpu_count(logical=False) or 1
    return max(1, min(physical, round(logical_cores() * physical / logical)))


def logical_cores() -> int:
    """Return the number of logical cores that this process may use, at least one."""
    process = psutil.Process()
    return len(process.cpu_affinity() or (0,)) if hasattr(process, "cpu_affinity") else psutil.cpu_count() or 1


def _apply(setup: Setup) -> Setup:
    wanted = _wanted(setup)
    setup.notes.remarks.append(f"operators run on {wanted} threads instead of {torch.get_num_threads()}")
    return replace(setup, call=_threaded(setup.call, wanted), around=(*setup.around, lambda: on_threads(wanted)))


def _threaded(call: Callable[..., Any], number: int) -> Callable[..., Any]:
    def run(*args: Any, **kwargs: Any) -> Any:
        with on_threads(number):
            return call(*args, **kwargs)

    return run


@contextlib.contextmanager
def on_threads(number: int) -> Iterator[None]:
    """Run operators on so many threads, and afterwards on as many as before."""
    before = torch.get_num_threads()
    if number == before:
        yield
        return
    torch.set_num_threads(number)
    try:
        yield
    finally:
        torch.set_num_threads(before)


THREADS = Recipe(
    mode=OptimizationMode.THREADS,
    changes="Operators run on as many threads as there are physical cores for this process, or on num_threads.",
    applies="Models on the CPU, where the number of threads is another now. More is not always faster: measure.",
    exactness="Some sums run in another order: the last bits may differ.",
    unfit=_unfit,
    apply=_apply,
    options=("num_threads",),
)
