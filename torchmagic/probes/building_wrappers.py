"""This file is the wrappers around what builds optimizers and modules, and what fills a module's weights."""

from typing import Any

from torchmagic.probes.function_wrappers import Relays, relay_at
from torchmagic.probes.sites import hide_ours, past_ours
from torchmagic.probes.tracing import is_compiling
from torchmagic.probes.wrappers import Switchboard, frame_at, named_like


def wrap_optimizer_init(taps: Switchboard, original: Any) -> Any:
    """Wrap ``Optimizer.__init__``, which every optimizer's own constructor calls."""

    def __init__(optimizer: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807 - it takes that name's place
        original(optimizer, *args, **kwargs)
        if not (taps.quiet or is_compiling()):
            taps.emit("optimizer_built", optimizer, frame_at(1))

    return named_like(__init__, original)


def wrap_module_init(taps: Switchboard, original: Any) -> Any:
    """Wrap ``Module.__init__``, with which every module begins."""
    heard = taps.heard

    def __init__(module: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807 - it takes that name's place
        original(module, *args, **kwargs)
        if heard["module_built"] and not (taps.quiet or is_compiling()):
            taps.emit("module_built", module, frame_at(1))

    return named_like(__init__, original)


def wrap_apply(taps: Switchboard, original: Any) -> Any:
    """Wrap ``Module.apply``, with which a function goes through a module: only the outermost call makes an event."""
    nested = False

    def apply(module: Any, *args: Any, **kwargs: Any) -> Any:
        nonlocal nested
        if nested or taps.quiet or is_compiling():
            return original(module, *args, **kwargs)
        nested = True
        taps.emit("weights_may_change", module, None)
        try:
            result = original(module, *args, **kwargs)
        finally:
            nested = False
        taps.emit("weights_may_change", module, frame_at(1))
        return result

    return named_like(apply, original)


def wrap_initialiser(taps: Switchboard, original: Any) -> Any:
    """Wrap a function of ``torch.nn.init``, all of which ``reset_parameters`` of torch's layers call."""
    heard = taps.heard
    relays: Relays = {}

    def initialise(*args: Any, **kwargs: Any) -> Any:
        if taps.quiet or is_compiling():
            return original(*args, **kwargs)
        frame = past_ours(frame_at(1))
        try:
            result = relay_at(frame, relays)(original, args, kwargs)  # torch warns of empty tensors, at the line
        except BaseException as error:
            hide_ours(error)
            raise
        if heard["weights_set"]:
            taps.emit("weights_set", result, frame)
        return result

    return named_like(initialise, original)
