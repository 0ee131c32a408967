"""This file is the user's modes: what they put around all operators, set aside while torchmagic itself computes."""

from typing import Any, NamedTuple

import torch
from torch import overrides
from torch.utils import _python_dispatch as dispatch

dispatch_modes, function_modes = torch._C._len_torch_dispatch_stack, torch._C._len_torch_function_stack


class Aside(NamedTuple):
    """Modes that were set aside, the innermost first."""

    dispatch: list[Any]
    function: list[Any]


def set_aside() -> Aside:
    """Take all modes off but those with which torch itself traces, and return them."""
    stack = [torch._C._get_dispatch_stack_at(i) for i in range(dispatch_modes())]
    traces = any(type(mode).is_infra_mode() for mode in stack)
    return Aside(
        dispatch=[] if traces else [dispatch._pop_mode() for _ in stack],
        function=[overrides._pop_mode() for _ in range(function_modes())],  # type: ignore[no-untyped-call] # torch
    )


def put_on(aside: Aside) -> None:
    """Put modes on again."""
    for mode in reversed(aside.function):
        overrides._push_mode(mode)  # type: ignore[no-untyped-call] # torch
    for mode in reversed(aside.dispatch):
        dispatch._push_mode(mode)
