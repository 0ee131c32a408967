"""This file is the wrappers around functions of tensors: losses, softmax, relu and the like, and subtraction."""

from types import CodeType, FrameType, FunctionType
from typing import Any

from torch.nn import functional
from torch.overrides import has_torch_function

from torchmagic.probes.appearance import argument_names
from torchmagic.probes.bodies import bare
from torchmagic.probes.compiler import not_compiled
from torchmagic.probes.sites import RELAY, hide_ours, past_ours
from torchmagic.probes.stand_ins import StandIn
from torchmagic.probes.tracing import is_compiling
from torchmagic.probes.wrappers import Switchboard, frame_at, named_like

Relays = dict[tuple[int, int], tuple[CodeType, Any]]
# What calls the wrapper of a function that is written in C.
STANDING = StandIn.__call__.__code__
# What softmax of ``nn.functional`` takes.
IMPLICIT = ("input", "dim", "_stacklevel", "dtype")


def wrap_loss(taps: Switchboard, original: Any) -> Any:
    """Wrap a loss of ``torch.nn.functional``."""
    name = original.__name__
    relays: Relays = {}

    def loss(*args: Any, **kwargs: Any) -> Any:
        if taps.quiet or is_compiling():
            return original(*args, **kwargs)
        frame = frame_at(1)
        if frame.f_code.co_name == RELAY and frame.f_back is not None:  # the body of torch's function
            frame = frame.f_back
        known = relays.get((id(frame.f_code), frame.f_lasti))
        if known is None:
            frame = past_ours(frame)
            relay = relay_at(frame, relays)
        else:
            relay = known[1]
        try:
            if has_torch_function((*args, *kwargs.values())):
                with bare(getattr(functional, name)):  # which is handed to them: what they call is told here
                    output = original(*args, **kwargs)
            else:
                output = relay(original, args, kwargs)
        except BaseException as error:
            hide_ours(error)
            raise
        if (way := taps.ways["loss"]) is not None and way(name, args, kwargs, output, frame):
            return output
        if taps.heard["loss"]:
            taps.emit("loss", name, args, kwargs, output, frame)
        return output

    return named_like(loss, original)


def wrap_softmax(taps: Switchboard, original: Any) -> Any:
    """Wrap softmax as function or method."""
    if argument_names(original) == IMPLICIT:
        return _wrap_implicit(taps, original)
    return _told(taps, original, "softmax")


def wrap_relu(taps: Switchboard, original: Any) -> Any:
    """Wrap relu as function or method: the form that is no module of its own."""
    return _told(taps, original, "relu", of_leaves=True)


def wrap_sigmoid(taps: Switchboard, original: Any) -> Any:
    """Wrap sigmoid as function or method."""
    return _told(taps, original, "squash", "sigmoid")


def wrap_tanh(taps: Switchboard, original: Any) -> Any:
    """Wrap tanh as function or method."""
    return _told(taps, original, "squash", "tanh")


def wrap_sub(taps: Switchboard, original: Any) -> Any:
    """Wrap the subtraction of tensors, as an operator, a function or a method."""
    relays: Relays = {}

    def __sub__(*operands: Any, **kwargs: Any) -> Any:  # noqa: N807 - it takes that name's place
        if not kwargs:  # of an ``out`` torch may warn
            output = original(*operands)
        else:
            try:
                output = relay_at(past_ours(frame_at(1)), relays)(original, operands, kwargs)
            except BaseException as error:
                hide_ours(error)
                raise
        if output is not NotImplemented and len(operands) > 1:
            taps.emit("subtraction", operands[0], operands[1], output, frame_at(1))
        return output

    return named_like(__sub__, original)


def _told(taps: Switchboard, original: Any, *event: str, of_leaves: bool = False) -> Any:
    """Wrap a function whose answer is told; what torch warns of names the caller's line."""
    relays: Relays = {}

    def told(*args: Any, **kwargs: Any) -> Any:
        if taps.quiet or is_compiling() or (of_leaves and not taps.leaves):
            return original(*args, **kwargs)
        frame = frame_at(1)
        if (frame.f_code is STANDING or frame.f_code.co_name == RELAY) and frame.f_back is not None:
            frame = frame.f_back
        known = relays.get((id(frame.f_code), frame.f_lasti))
        if known is None:
            frame = past_ours(frame)
            relay = relay_at(frame, relays)
        else:
            relay = known[1]
        try:
            output = relay(original, args, kwargs)
        except BaseException as error:
            hide_ours(error)
            raise
        taps.emit(*event, output, frame)
        return output

    return named_like(told, original)


def _wrap_implicit(taps: Switchboard, original: Any) -> Any:
    """Wrap a softmax that warns where no dimension is given: it is told how many frames above it that was forgotten."""

    def softmax(input: Any, dim: Any = None, _stacklevel: int = 3, dtype: Any = None) -> Any:  # noqa: A002 - torch's
        if dim is None and frame_at(1).f_code.co_name == RELAY and not has_torch_function((input,)):
            _stacklevel += 1  # for the body of torch's function
        output = original(input, dim, _stacklevel, dtype)
        if not (taps.quiet or is_compiling()):
            taps.emit("softmax", output, past_ours(frame_at(1)))
        return output

    return named_like(softmax, original)


def _call(function: Any, args: Any, kwargs: Any) -> Any:
    return function(*args, **kwargs)


def relay_at(frame: FrameType, relays: Relays) -> Any:
    """Return a function that calls from the caller's line: a warning then names, and counts at, that line.

    Args:
        frame: The caller.
        relays: Those made before, by code object and instruction, which a frame knows without counting lines; a code
            object itself would hash all its instructions, and is kept beside its relay so that no other gets its
            identity.
    """
    where = (id(frame.f_code), frame.f_lasti)
    known = relays.get(where)
    if known is None:
        known = relays[where] = frame.f_code, _relay(frame)
    return known[1]


def _relay(frame: FrameType) -> Any:
    code = _call.__code__.replace(
        co_filename=frame.f_code.co_filename, co_firstlineno=frame.f_lineno - 1, co_name=RELAY, co_qualname=RELAY
    )
    not_compiled(code)
    return FunctionType(code, frame.f_globals)
