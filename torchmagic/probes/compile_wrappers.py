"""This file is the wrapper around the switch by which compiled code is entered and left."""

import sys
from collections.abc import Callable
from typing import Any

from torchmagic.probes.arrival import Arrival
from torchmagic.probes.patches import all_aside, step_aside
from torchmagic.probes.wrappers import Switchboard, frame_at

# What makes the compiler's tables of torch's functions, and keeps them.
TABLES = "get_torch_obj_rule_map", "get_tensor_method"


def compiler_arrival(replace: Callable[[Any, str, Any], None]) -> Arrival:
    """Return what has the compiler's switch replaced as soon as the compiler is loaded.

    As it loads, ``torch._dynamo`` makes tables of torch's functions by their identity: they must be torch's own then,
    and when it makes them anew, as it does once a process group was opened.
    """

    def then() -> None:
        if (compiler := sys.modules.get("torch._dynamo.eval_frame")) is not None:
            replace(compiler, "_maybe_set_eval_frame", wrap_entry)
        if (rules := sys.modules.get("torch._dynamo.trace_rules")) is not None:
            for table in TABLES:
                replace(rules, table, wrap_table)

    return Arrival(then, "torch._dynamo", all_aside)


def wrap_entry(taps: Switchboard, original: Any) -> Any:
    """Wrap what switches the compiler on and off: until the outermost call ends, torch's functions are torch's own.

    Compiled code holds for the very functions that were there when it was made: with wrappers in their place, what was
    compiled before a run would be compiled again in it, and once more after it.
    """
    if getattr(original, "__module__", None) == __name__:  # of another run that is open: one is enough
        return original
    within = 0  # the identity of the frame that called compiled code, while it does

    def enter_or_leave(callback: Any) -> Any:
        nonlocal within
        if callback is None and not within:  # a function that is never compiled, such as an optimizer's zero_grad
            return original(callback)
        frame = frame_at(1)
        if within == id(frame):
            within = 0
            step_aside(aside=False)
        elif not within and callback is not None and frame.f_code.co_name != "__enter__":  # that leaves by another one
            within = id(frame)
            taps.emit("compiled_call", frame)
            step_aside(aside=True)
        return original(callback)

    return enter_or_leave


def wrap_table(_taps: Switchboard, original: Any) -> Any:
    """Wrap what makes a table of torch's functions: as it does, they are torch's own."""
    if getattr(original, "__module__", None) == __name__:
        return original

    def table() -> Any:
        if original.cache_info().currsize:
            return original()
        with all_aside():
            return original()

    table.cache_clear, table.cache_info = original.cache_clear, original.cache_info  # type: ignore[attr-defined] # as the cache itself has
    return table
