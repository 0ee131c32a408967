"""This file is the wrappers around what takes a model's state, puts it back, and writes it to a file."""

from typing import Any

from torchmagic.probes.sites import hide_ours
from torchmagic.probes.tracing import is_compiling
from torchmagic.probes.wrappers import Switchboard, frame_at, named_like


def wrap_loading(taps: Switchboard, original: Any) -> Any:
    """Wrap ``Module.load_state_dict``."""
    heard = taps.heard

    def load_state_dict(module: Any, *args: Any, **kwargs: Any) -> Any:
        state = args[0] if args else kwargs.get("state_dict")
        if heard["state_loading"] and not (taps.quiet or is_compiling()):
            taps.emit("state_loading", module, state, frame_at(1))
        try:
            result = original(module, *args, **kwargs)
        except BaseException as error:
            hide_ours(error)
            raise
        if not (taps.quiet or is_compiling()):
            taps.emit("weights_set", module, frame_at(1))
        return result

    return named_like(load_state_dict, original)


def wrap_taking(taps: Switchboard, original: Any) -> Any:
    """Wrap ``Module.state_dict``: a module that is asked for its part by the one around it is none to tell of."""
    heard = taps.heard

    def state_dict(module: Any, *args: Any, **kwargs: Any) -> Any:
        if not heard["state_taken"] or "destination" in kwargs or taps.quiet or is_compiling():
            return original(module, *args, **kwargs)
        try:
            state = original(module, *args, **kwargs)
        except BaseException as error:
            hide_ours(error)
            raise
        taps.emit("state_taken", module, state, frame_at(1))
        return state

    return named_like(state_dict, original)


def wrap_writing(taps: Switchboard, original: Any) -> Any:
    """Wrap ``torch.save``."""
    heard = taps.heard

    def save(*args: Any, **kwargs: Any) -> Any:
        if not heard["saving"] or taps.quiet or is_compiling():
            return original(*args, **kwargs)
        taps.emit("saving", args[0] if args else kwargs.get("obj"), frame_at(1))
        try:
            return original(*args, **kwargs)
        except BaseException as error:
            hide_ours(error)
            raise

    return named_like(save, original)
