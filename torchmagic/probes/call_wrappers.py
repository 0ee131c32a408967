"""This file is the wrapper that the taps put around the call of a module."""

from functools import partial
from threading import get_ident
from types import FunctionType
from typing import Any

from torch import nn

from torchmagic.probes.appearance import in_place_of, uncounted
from torchmagic.probes.module_parts import is_training
from torchmagic.probes.sites import hide_ours
from torchmagic.probes.tracing import is_compiling
from torchmagic.probes.wrappers import Switchboard, frame_at, is_grad_enabled, now

# What torch's own asks a module for; all that it does is to call one of them.
IMPLEMENTATIONS = ("_compiled_call_impl", "_call_impl")


def wrap_call(taps: Switchboard, original: Any) -> Any:
    """Wrap ``Module.__call__``: only the outermost call of a model makes events, save where leaves are asked for.

    What torch's own does the wrapper does in its place, without a frame more for each module: they can be nested
    as deep as ever, and a warning finds the frames that it counts.
    """
    known = vars(nn.Module).get("_wrapped_call_impl")
    if original is known and isinstance(original, FunctionType) and original.__code__.co_names == IMPLEMENTATIONS:
        return in_place_of(_caller(taps, original, is_torchs=True), original)
    wrapper = _caller(taps, original, is_torchs=False)
    wrapper.__code__ = uncounted(wrapper.__code__)
    return wrapper


def _caller(taps: Switchboard, original: Any, *, is_torchs: bool) -> Any:
    turn = taps.turn

    def __call__(self: Any, /, *args: Any, **kwargs: Any) -> Any:  # noqa: N807 - it takes that name's place
        if not is_torchs:
            call = partial(original, self)
        elif (call := self._compiled_call_impl) is None:
            call = self._call_impl
        if taps.depth:
            # What another thread calls, inside or beside the call that is watched, is not in it.
            if not taps.follows or taps.quiet or is_compiling() or get_ident() != turn.ident:
                return call(*args, **kwargs)
            stack = taps.stack
            stack.append(self)
            if taps.called is not None:
                taps.called.add(id(self))
            try:
                output = call(*args, **kwargs)
            finally:
                stack.pop()
            if taps.leaves and not self._modules and ((way := taps.ways["leaf"]) is None or not way(self, output)):
                taps.emit("leaf", self, args, output)
            return output
        if (
            taps.quiet
            or is_compiling()
            or not (
                (turn.has_learned and get_ident() == turn.ident)
                or (turn.learns() if is_training(self) and is_grad_enabled() else turn.is_mine())
            )
        ):
            return call(*args, **kwargs)
        try:
            return _outermost(taps, call, self, args, kwargs)
        except BaseException as error:
            hide_ours(error)
            taps.emit("root_error", self)
            raise

    return __call__


def _outermost(taps: Switchboard, call: Any, module: Any, args: Any, kwargs: Any) -> Any:
    """Call a module that is inside no other."""
    bare = not (module._modules or module._parameters)  # a criterion, or a layer without weights: no model
    taps.depth = 1
    taps.stack = [module]
    try:
        if not bare:
            frame = frame_at(2)
            if (way := taps.ways["root_begin"]) is None or not way(module, args, kwargs, frame):
                if is_training(module) is not taps.training or not is_grad_enabled():
                    _tell_how(taps, module, frame)
                taps.emit("root_begin", module, args, kwargs, frame)
        began = now() - taps.spent
        output = call(*args, **kwargs)
        took = now() - taps.spent - began
        taps.clock.forward += took
        if taps.leaves and not module._modules:
            taps.emit("leaf", module, args, output)
        if not bare and taps.heard["root_end"]:
            taps.emit("root_end", module, args, kwargs, output, took)
    finally:
        taps.depth = 0
        taps.stack = []
    return output


_outermost.__code__ = uncounted(_outermost.__code__)


def _tell_how(taps: Switchboard, module: Any, frame: Any) -> None:
    """Tell of a call in another mode than the one before, or without gradients."""
    training = is_training(module)
    if training is not taps.training:
        taps.training = training
        taps.emit("root_mode", module)
    if not is_grad_enabled():
        taps.emit("root_without", module, frame)
