"""This file is the wrappers that the taps put around torch's functions while a run is open.

Each makes a function that calls the original as it was called, tells the taps, and, when the original raises, takes
torchmagic's frames out of the traceback below its own.
"""

import sys
import time
from typing import Any, Protocol

import torch

from torchmagic.probes.sites import hide_ours

now = time.perf_counter_ns
frame_at = sys._getframe
is_compiling = torch.compiler.is_compiling


class Switchboard(Protocol):
    """What a wrapper needs of the taps: what is asked for, where torch stands, and where to tell."""

    quiet: bool
    depth: int
    stack: list[Any]
    spent: int
    sees_leaves: bool
    sees_modules: bool

    def emit(self, event: str, *arguments: Any) -> None:
        """Hand an event to its listeners."""


def wrap_call(taps: Switchboard, original: Any) -> Any:
    """Wrap ``Module.__call__``: only the outermost call of a model makes events, save where leaves are asked for."""

    def __call__(module: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N807 - it takes that name's place
        if taps.quiet or is_compiling():
            return original(module, *args, **kwargs)
        if taps.depth:
            return _nested(taps, original, module, args, kwargs)
        taps.depth = 1
        taps.stack = [module]
        try:
            taps.emit("root_begin", module, args, kwargs, frame_at(1))
            began = now() - taps.spent
            output = original(module, *args, **kwargs)
            took = now() - taps.spent - began
            if taps.sees_leaves and not module._modules:
                taps.emit("leaf", module, args, output)
            taps.emit("root_end", module, args, kwargs, output, took)
        except BaseException as error:
            hide_ours(error)
            raise
        finally:
            taps.depth = 0
            taps.stack = []
        return output

    return __call__


def _nested(taps: Switchboard, original: Any, module: Any, args: Any, kwargs: Any) -> Any:
    """Call a module inside a model: with a note of where we are only while somebody asks for it."""
    if not (taps.sees_modules or taps.sees_leaves):
        return original(module, *args, **kwargs)
    taps.stack.append(module)
    try:
        output = original(module, *args, **kwargs)
    finally:
        taps.stack.pop()
    if taps.sees_leaves and not module._modules:
        taps.emit("leaf", module, args, output)
    return output


def wrap_backward(taps: Switchboard, original: Any) -> Any:
    """Wrap ``torch.autograd.backward``, which ``Tensor.backward`` calls; what recomputes inside makes no events."""

    def backward(tensors: Any, *args: Any, **kwargs: Any) -> Any:
        if taps.quiet or is_compiling():
            return original(tensors, *args, **kwargs)
        taps.emit("backward_begin", tensors, frame_at(1))
        depth, leaves, stack = taps.depth, taps.sees_leaves, taps.stack
        taps.depth, taps.sees_leaves, taps.stack = 1, False, []
        began = now() - taps.spent
        try:
            result = original(tensors, *args, **kwargs)
        except BaseException as error:
            hide_ours(error)
            raise
        finally:
            taps.depth, taps.sees_leaves, taps.stack = depth, leaves, stack
        taps.emit("backward_end", tensors, now() - taps.spent - began)
        return result

    return named_like(backward, original)


def wrap_next(taps: Switchboard, original: Any) -> Any:
    """Wrap a DataLoader iterator's ``__next__``: how long the loop waited for its batch."""

    def __next__(loader: Any) -> Any:  # noqa: N807 - it takes that name's place
        began = now()
        batch = original(loader)
        taps.emit("batch", loader, batch, now() - began)
        return batch

    return __next__


def wrap_clip(taps: Switchboard, original: Any) -> Any:
    """Wrap ``clip_grad_norm_``, whose answer is the norm before clipping."""

    def clip_grad_norm_(*args: Any, **kwargs: Any) -> Any:
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


def wrap_sub(taps: Switchboard, original: Any) -> Any:
    """Wrap the subtraction of tensors."""

    def __sub__(left: Any, right: Any) -> Any:  # noqa: N807 - it takes that name's place
        output = original(left, right)
        if output is not NotImplemented:
            taps.emit("subtraction", left, right, output, frame_at(1))
        return output

    return __sub__


def named_like(wrapper: Any, original: Any) -> Any:
    """Give a wrapper the name and the documentation of what it wraps."""
    for name in ("__name__", "__qualname__", "__doc__", "__module__"):
        setattr(wrapper, name, getattr(original, name, None))
    return wrapper
