"""This file is the user's own ways of operators, which are set aside while torchmagic itself computes.

They put modes around all operators, and have classes of tensors whose ``__torch_function__`` is called for each.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
from torch import overrides
from torch.utils import _device as new_tensors
from torch.utils import _python_dispatch as dispatch

from torchmagic.probes.compiler import MARKS_CALLS, Interpreted, not_compiled
from torchmagic.probes.sync_debug import SYNC_DEBUG

dispatch_modes, function_modes = torch._C._len_torch_dispatch_stack, torch._C._len_torch_function_stack


class _Older:
    """What an older torch needs beside, inside which nothing may be compiled."""

    def __init__(self) -> None:
        self._both = torch._C.DisableTorchFunctionSubclass(), Interpreted()

    def __enter__(self) -> None:
        for each in self._both:
            each.__enter__()

    def __exit__(self, *_: object) -> None:
        for each in reversed(self._both):
            each.__exit__(None, None, None)


for _each in (_Older.__init__, _Older.__enter__, _Older.__exit__):
    not_compiled(_each.__code__)
# Inside the first, tensors of a class of the user's are as torch's own; inside the second they are the user's again.
plain_tensors: Any = torch._C.DisableTorchFunctionSubclass if MARKS_CALLS else _Older
tensors_as_they_are = torch._C._EnableTorchFunction


class Aside(NamedTuple):
    """Modes that were set aside, the innermost first, and how torch took what waits for CUDA."""

    dispatch: list[Any]
    function: list[Any]
    sync_debug: int


def set_aside() -> Aside:
    """Take all modes off but those with which torch itself traces, and return them."""
    sync_debug = SYNC_DEBUG.mode
    if sync_debug:
        SYNC_DEBUG.switch(0)
    stack = [torch._C._get_dispatch_stack_at(i) for i in range(dispatch_modes())]
    traces = any(type(mode).is_infra_mode() for mode in stack)
    return Aside(
        dispatch=[] if traces else [dispatch._pop_mode() for _ in stack],
        function=[overrides._pop_mode() for _ in range(function_modes())],  # type: ignore[no-untyped-call] # torch
        sync_debug=sync_debug,
    )


def put_on(aside: Aside) -> None:
    """Put modes on again."""
    if aside.sync_debug:
        SYNC_DEBUG.switch(aside.sync_debug)
    for mode in reversed(aside.function):
        overrides._push_mode(mode)  # type: ignore[no-untyped-call] # torch
    for mode in reversed(aside.dispatch):
        dispatch._push_mode(mode)


@contextmanager
def users_ways_aside() -> Iterator[None]:
    """Have no mode of the user's on inside, and tensors of a class of theirs as torch's own."""
    aside = set_aside()
    try:
        with plain_tensors():
            yield
    finally:
        put_on(aside)


@contextmanager
def on_users_device() -> Iterator[None]:
    """Have tensors that are made inside lie where the user's do, as ``torch.set_default_device`` says."""
    chosen = new_tensors.CURRENT_DEVICE  # inside an operator of the user's, the mode that does it is off
    if chosen is None:
        yield
        return
    with torch.device(chosen):
        yield
