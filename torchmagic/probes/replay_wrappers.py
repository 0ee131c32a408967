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


class _Setting:
    """What torch's anomaly detection was before something had it on, and how that has it: (on, looks for NaN)."""

    def __init__(self, *, check_nan: bool) -> None:
        self.found = (torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled())
        self.made = (True, check_nan)


# Of all that have it on now, the newest last; they may end in any order.
_settings: list[_Setting] = []


@contextmanager
def anomaly_detection(detection: Detection) -> Iterator[None]:
    """Have torch's own anomaly detection on, or left as the user has it; what the user sets meanwhile stays."""
    if detection is Detection.OFF:
        yield
        return
    mine = _Setting(check_nan=detection is Detection.RAISES)
    _settings.append(mine)
    torch.autograd.set_detect_anomaly(*mine.made)
    try:
        yield
    finally:
        _take_back(mine)


def _take_back(mine: _Setting) -> None:
    place = _settings.index(mine)
    newer = _settings[place + 1] if place + 1 < len(_settings) else None
    left = newer.found if newer is not None else (torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled())
    del _settings[place]
    if left != mine.made:  # the user's own, which what is older is to leave too
        for each in _settings[:place]:
            each.found = left
    elif newer is not None:
        newer.found = mine.found
    else:
        torch.autograd.set_detect_anomaly(*mine.found)


@contextmanager
def plain_saving() -> Iterator[None]:
    """Keep what a graph saves from hooks of the user's, who would count it, or hold it for good."""
    newest = getattr(torch._C._autograd, "_top_saved_tensors_default_hooks", None)  # before torch 2.7 nobody can ask
    if newest is not None and newest(True) is None:  # noqa: FBT003 - its only argument, which has no name
        yield
        return
    with torch.autograd.graph.saved_tensors_hooks(torch.Tensor.detach, lambda tensor: tensor):
        yield
