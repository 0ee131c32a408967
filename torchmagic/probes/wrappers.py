"""This file is the wrappers that the taps put around torch's functions while a run is open.

Each makes a function that calls the original as it was called, tells the taps, and, when the original raises, takes
torchmagic's frames out of the traceback below its own.
"""

import inspect
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from threading import get_ident
from typing import Any, Protocol

import torch

from torchmagic.probes.appearance import uncounted
from torchmagic.probes.sites import hide_ours
from torchmagic.probes.tracing import is_compiling
from torchmagic.probes.turn import Turn
from torchmagic.tensors.presence import PLAIN

now = time.perf_counter_ns
frame_at = sys._getframe
is_grad_enabled = torch.is_grad_enabled
is_wrapped: Callable[[Any], bool] = torch._C._functorch.is_functorch_wrapped_tensor


class Switchboard(Protocol):
    """What a wrapper needs of the taps: what is asked for, where torch stands, and where to tell."""

    quiet: bool
    capturing: bool
    depth: int
    weighted: bool
    training: bool
    stack: list[Any]
    spent: int
    leaves: bool
    follows: bool
    called: set[int] | None
    clock: "PhaseClock"
    heard: Mapping[str, Sequence[Any]]
    ways: Mapping[str, Callable[..., bool] | None]
    ranges: Mapping[int, Any] | None
    turn: Turn

    def is_busy(self) -> bool:
        """Whether listeners are at work."""

    def emit(self, event: str, *arguments: Any) -> None:
        """Hand an event to its listeners."""


class PhaseClock:
    """Nanoseconds that each phase took since somebody last read them; torchmagic's own are left out."""

    __slots__ = ("backward", "data", "forward", "optimizer")

    def __init__(self) -> None:
        self.data = self.forward = self.backward = self.optimizer = 0


def wrap_backward(taps: Switchboard, original: Any) -> Any:
    """Wrap ``torch.autograd.backward``, which ``Tensor.backward`` calls; what recomputes inside makes no events."""
    heard, ways, turn = taps.heard, taps.ways, taps.turn

    def backward(tensors: Any, *args: Any, **kwargs: Any) -> Any:
        mine = turn.has_learned and get_ident() == turn.ident
        if taps.quiet or is_compiling() or not (mine or turn.trains(taps.is_busy)):
            return original(tensors, *args, **kwargs)
        taps.weighted = (args[0] if args else kwargs.get("grad_tensors")) is not None
        if (way := ways["backward_begin"]) is None or not way(tensors, frame_at(1)):
            taps.emit("backward_begin", tensors, frame_at(1))
        if heard["backward_of_leaf"] and type(tensors) in PLAIN and tensors.is_leaf:
            taps.emit("backward_of_leaf", tensors, frame_at(1))
        try:
            result, took = _go_backward(taps, original, tensors, args, kwargs)
        except BaseException as error:
            hide_ours(error)
            taps.emit("backward_error", tensors, frame_at(1), error)
            raise
        if heard["backward_end"]:
            taps.emit("backward_end", tensors, took)
        return result

    return named_like(backward, original)


def _go_backward(taps: Switchboard, original: Any, tensors: Any, args: Any, kwargs: Any) -> tuple[Any, int]:
    """Return what an original gives, and the nanoseconds that it took; what recomputes inside makes no events."""
    depth, leaves, stack = taps.depth, taps.leaves, taps.stack
    taps.depth, taps.leaves, taps.stack = 1, False, []
    began = now() - taps.spent
    try:
        result = original(tensors, *args, **kwargs)
    finally:
        taps.depth, taps.leaves, taps.stack = depth, leaves, stack
    took = now() - taps.spent - began
    taps.clock.backward += took
    return result, took


_go_backward.__code__ = uncounted(_go_backward.__code__)


# Where the engine is told whether to make a graph of the gradients, and of which inputs, behind the tensors.
CREATES, INPUTS = 2, 3


def wrap_engine(taps: Switchboard, original: Any) -> Any:
    """Wrap what ``torch.autograd.grad`` calls, so that it is seen under whatever name the user imported it.

    ``backward``, which calls the same, has events of its own. What is asked for inside a model is part of its forward.
    """
    heard, turn = taps.heard, taps.turn

    def _engine_run_backward(tensors: Any, *args: Any, **kwargs: Any) -> Any:
        if kwargs.get("accumulate_grad") is not False or taps.quiet or is_compiling():
            return original(tensors, *args, **kwargs)
        inputs: Sequence[Any] = args[INPUTS] if len(args) > INPUTS else ()
        told = bool(inputs) and not is_wrapped(inputs[0])  # of a transform its outermost call is
        if told and heard["differentiated"]:
            taps.emit("differentiated", tensors, inputs, frame_at(1))
        if told and heard["taken_without_graph"] and not args[CREATES]:
            taps.emit("taken_without_graph", tensors, inputs, frame_at(1))
        if taps.depth or not turn.is_mine():
            return original(tensors, *args, **kwargs)
        try:
            gradients, _ = _go_backward(taps, original, tensors, args, kwargs)
        except BaseException as error:
            hide_ours(error)
            raise
        if told and heard["derived"]:
            taps.emit("derived", inputs, gradients)
        return gradients

    return named_like(_engine_run_backward, original)


def wrap_next(taps: Switchboard, original: Any) -> Any:
    """Wrap a DataLoader iterator's ``__next__``: how long the loop waited for its batch."""

    def __next__(loader: Any) -> Any:  # noqa: N807 - it takes that name's place
        began = now()
        try:
            batch = original(loader)
        except StopIteration:
            taps.emit("exhausted", loader)
            raise
        took = now() - began
        if taps.turn.is_mine():
            taps.clock.data += took
        taps.emit("batch", loader, batch, took)
        return batch

    return named_like(__next__, original)


def wrap_clip(taps: Switchboard, original: Any) -> Any:
    """Wrap ``clip_grad_norm_``, whose answer is the norm before clipping."""

    def clip_grad_norm_(*args: Any, **kwargs: Any) -> Any:
        if taps.heard["clip_begin"]:
            taps.emit("clip_begin")
        norm = original(*args, **kwargs)
        taps.emit("clip", norm)
        return norm

    return named_like(clip_grad_norm_, original)


def wrap_train(taps: Switchboard, original: Any) -> Any:
    """Wrap ``Module.train``, which ``eval`` calls too: only the outermost call makes an event."""
    nested = False

    def train(module: Any, mode: bool = True) -> Any:  # noqa: FBT001, FBT002 - torch's signature
        nonlocal nested
        if nested or taps.quiet:
            return original(module, mode)
        nested = True
        try:
            result = original(module, mode)
        finally:
            nested = False
        taps.emit("mode", module, mode, frame_at(1))
        return result

    return named_like(train, original)


def named_like(wrapper: Any, original: Any) -> Any:
    """Give a wrapper the name and the documentation of what it wraps, and a constructor's its arguments.

    Where a warning counts frames, the wrapper's is none.
    """
    constructs = wrapper.__name__ == "__init__"  # the compiler gives a constructor another name
    for name in ("__name__", "__qualname__", "__doc__", "__module__"):
        setattr(wrapper, name, getattr(original, name, None))
    if constructs:  # libraries make an object again from the arguments that they find there
        wrapper.__signature__ = inspect.signature(original)
    wrapper.__code__ = uncounted(wrapper.__code__)
    return wrapper
