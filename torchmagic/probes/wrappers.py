"""This file is the wrappers that the taps put around torch's functions while a run is open.

Each makes a function that calls the original as it was called, tells the taps, and, when the original raises, takes
torchmagic's frames out of the traceback below its own.
"""

import inspect
import sys
import time
from collections.abc import Mapping, Sequence
from threading import get_ident
from typing import Any, Protocol

import torch

from torchmagic.probes.sites import hide_ours
from torchmagic.probes.tracing import is_compiling
from torchmagic.probes.turn import Turn

now = time.perf_counter_ns
frame_at = sys._getframe
is_grad_enabled = torch.is_grad_enabled


class Switchboard(Protocol):
    """What a wrapper needs of the taps: what is asked for, where torch stands, and where to tell."""

    quiet: bool
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


def wrap_call(taps: Switchboard, original: Any) -> Any:
    """Wrap ``Module.__call__``: only the outermost call of a model makes events, save where leaves are asked for."""
    clock, heard, turn = taps.clock, taps.heard, taps.turn

    def __call__(*given: Any, **kwargs: Any) -> Any:  # noqa: N807 - it takes that name's place
        if taps.depth:
            if taps.follows and not taps.quiet and not is_compiling():
                return _nested(taps, original, given[0], given[1:], kwargs)
            return original(*given, **kwargs)  # as they came: what is taken apart is put together again for each layer
        module, args = given[0], given[1:]
        if (
            taps.quiet
            or is_compiling()
            or not (
                (turn.has_learned and get_ident() == turn.ident)
                or (turn.learns() if module.training and is_grad_enabled() else turn.is_mine())
            )
        ):
            return original(*given, **kwargs)
        bare = not (module._modules or module._parameters)  # a criterion, or a layer without weights: no model
        taps.depth = 1
        taps.stack = [module]
        try:
            if not bare:
                if module.training is not taps.training or not is_grad_enabled():
                    _tell_how(taps, module, frame_at(1))
                taps.emit("root_begin", module, args, kwargs, frame_at(1))
            began = now() - taps.spent
            output = original(*given, **kwargs)
            took = now() - taps.spent - began
            clock.forward += took
            if taps.leaves and not module._modules:
                taps.emit("leaf", module, args, output)
            if not bare and heard["root_end"]:
                taps.emit("root_end", module, args, kwargs, output, took)
        except BaseException as error:
            hide_ours(error)
            raise
        finally:
            taps.depth = 0
            taps.stack = []
        return output

    return __call__


def _tell_how(taps: Switchboard, module: Any, frame: Any) -> None:
    """Tell of a call in another mode than the one before, or without gradients."""
    if module.training is not taps.training:
        taps.training = module.training
        taps.emit("root_mode", module)
    if not is_grad_enabled():
        taps.emit("root_without", module, frame)


def _nested(taps: Switchboard, original: Any, module: Any, args: Any, kwargs: Any) -> Any:
    """Call a module inside a model: with a note of where we are only while somebody asks for it."""
    if get_ident() != taps.turn.ident:  # another thread's, inside or beside the call that is watched
        return original(module, *args, **kwargs)
    stack = taps.stack
    stack.append(module)
    if taps.called is not None:
        taps.called.add(id(module))
    try:
        output = original(module, *args, **kwargs)
    finally:
        stack.pop()
    if taps.leaves and not module._modules:
        taps.emit("leaf", module, args, output)
    return output


def wrap_backward(taps: Switchboard, original: Any) -> Any:
    """Wrap ``torch.autograd.backward``, which ``Tensor.backward`` calls; what recomputes inside makes no events."""
    clock, heard, turn = taps.clock, taps.heard, taps.turn

    def backward(tensors: Any, *args: Any, **kwargs: Any) -> Any:
        mine = turn.has_learned and get_ident() == turn.ident
        if taps.quiet or is_compiling() or not (mine or turn.trains(taps.is_busy)):
            return original(tensors, *args, **kwargs)
        taps.weighted = (args[0] if args else kwargs.get("grad_tensors")) is not None
        taps.emit("backward_begin", tensors, frame_at(1))
        if heard["backward_of_leaf"] and isinstance(tensors, torch.Tensor) and tensors.is_leaf:
            taps.emit("backward_of_leaf", tensors, frame_at(1))
        depth, leaves, stack = taps.depth, taps.leaves, taps.stack
        taps.depth, taps.leaves, taps.stack = 1, False, []
        began = now() - taps.spent
        try:
            result = original(tensors, *args, **kwargs)
        except BaseException as error:
            hide_ours(error)
            taps.emit("backward_error", tensors, frame_at(1), error)
            raise
        finally:
            taps.depth, taps.leaves, taps.stack = depth, leaves, stack
        took = now() - taps.spent - began
        clock.backward += took
        if heard["backward_end"]:
            taps.emit("backward_end", tensors, took)
        return result

    return named_like(backward, original)


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

    return __next__


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


def wrap_sub(taps: Switchboard, original: Any) -> Any:
    """Wrap the subtraction of tensors, as an operator, a function or a method."""

    def __sub__(*operands: Any, **kwargs: Any) -> Any:  # noqa: N807 - it takes that name's place
        output = original(*operands, **kwargs)
        if output is not NotImplemented and len(operands) > 1:
            taps.emit("subtraction", operands[0], operands[1], output, frame_at(1))
        return output

    return __sub__


def named_like(wrapper: Any, original: Any) -> Any:
    """Give a wrapper the name and the documentation of what it wraps, and a constructor's its arguments."""
    constructs = wrapper.__name__ == "__init__"  # the compiler gives a constructor another name
    for name in ("__name__", "__qualname__", "__doc__", "__module__"):
        setattr(wrapper, name, getattr(original, name, None))
    if constructs:  # libraries make an object again from the arguments that they find there
        wrapper.__signature__ = inspect.signature(original)
    return wrapper
