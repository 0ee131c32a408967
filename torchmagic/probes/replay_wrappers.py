"""This file is the wrappers of a replay: what is put around torch while a sick step is run again."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from enum import StrEnum
from typing import Any

import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from torchmagic.probes.patches import Patches

Done = Callable[[Any], None]


class Detection(StrEnum):
    """What torch's own anomaly detection does while a run is open."""

    OFF = "off"
    REMEMBERS = "remembers the line of every operator"
    RAISES = "raises at a gradient that is NaN"


@contextmanager
def watch_operators(seen: Callable[[Any, tuple[Any, ...], dict[str, Any]], Done]) -> Iterator[None]:
    """Call ``seen(op, args, kwargs)`` before every operator that runs inside, and its answer with the output."""

    class Watcher(TorchDispatchMode):  # type: ignore[no-untyped-call] # torch
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            done = seen(func, args, kwargs or {})
            output = func(*args, **(kwargs or {}))
            done(output)
            return output

    with Watcher():  # type: ignore[no-untyped-call] # torch
        yield


@contextmanager
def watch_modules(seen: Callable[[nn.Module, tuple[Any, ...]], Done]) -> Iterator[None]:
    """Call ``seen(module, args)`` before every module that runs inside, and its answer with the output."""

    def wrap(original: Any) -> Any:
        def called(module: nn.Module, *args: Any, **kwargs: Any) -> Any:
            done = seen(module, args)
            output = None
            try:
                output = original(module, *args, **kwargs)
            finally:
                done(output)
            return output

        return called

    patches = Patches()
    patches.replace(nn.Module, "__call__", wrap)
    try:
        yield
    finally:
        patches.undo()


@contextmanager
def traced_graph(*, graph: bool = True) -> Iterator[None]:
    """Have each node know the line that made it, and compiled code run as it is written.

    Args:
        graph: Whether gradients are on: without them torch may choose other operators.
    """
    stance = getattr(torch.compiler, "set_stance", None)
    with ExitStack() as modes:
        modes.enter_context(torch.set_grad_enabled(graph))
        modes.enter_context(torch.autograd.set_detect_anomaly(True, check_nan=False))
        if stance is not None:
            modes.enter_context(stance("force_eager"))
        yield


# What runs with torch's anomaly detection on found before them, the newest last; they may end in any order.
_found: list[list[bool]] = []


@contextmanager
def anomaly_detection(detection: Detection) -> Iterator[None]:
    """Have torch's own anomaly detection on, or left as the user has it."""
    if detection is Detection.OFF:
        yield
        return
    mine = [torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()]
    _found.append(mine)
    torch.autograd.set_detect_anomaly(True, check_nan=detection is Detection.RAISES)
    try:
        yield
    finally:
        place = next(index for index, each in enumerate(_found) if each is mine)
        if place + 1 < len(_found):
            _found[place + 1][:] = mine
        else:
            torch.autograd.set_detect_anomaly(*mine)
        del _found[place]
