"""This file is the wrappers around ``torch.amp.GradScaler``."""

from typing import Any

from torchmagic.probes.sites import hide_ours
from torchmagic.probes.tracing import is_compiling
from torchmagic.probes.wrappers import Switchboard, frame_at, named_like


def wrap_scale(taps: Switchboard, original: Any) -> Any:
    """Wrap ``GradScaler.scale``, so that a loss is known by its own value."""

    def scale(scaler: Any, outputs: Any) -> Any:
        try:
            scaled = original(scaler, outputs)
        except BaseException as error:
            hide_ours(error)
            raise
        taps.emit("scaled", outputs, scaled)
        return scaled

    return named_like(scale, original)


def wrap_unscale(taps: Switchboard, original: Any) -> Any:
    """Wrap ``GradScaler.unscale_``, which ``GradScaler.step`` calls too."""

    def unscale_(scaler: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            result = original(scaler, *args, **kwargs)
        except BaseException as error:
            hide_ours(error)
            raise
        taps.emit("unscaled", scaler, _optimizer(args, kwargs))
        return result

    return named_like(unscale_, original)


def wrap_scaler_step(taps: Switchboard, original: Any) -> Any:
    """Wrap ``GradScaler.step``: the optimizer's own step makes its events between this one's two, or is left out."""

    def step(scaler: Any, *args: Any, **kwargs: Any) -> Any:
        if taps.quiet or is_compiling():
            return original(scaler, *args, **kwargs)
        frame, optimizer = frame_at(1), _optimizer(args, kwargs)
        taps.emit("scaler_step_begin", scaler, optimizer, frame)
        try:
            result = original(scaler, *args, **kwargs)
        except BaseException as error:
            hide_ours(error)
            raise
        taps.emit("scaler_step_end", scaler, optimizer, frame)
        return result

    return named_like(step, original)


def wrap_update(taps: Switchboard, original: Any) -> Any:
    """Wrap ``GradScaler.update``; a scale that the user gives is told apart."""

    def update(scaler: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            result = original(scaler, *args, **kwargs)
        except BaseException as error:
            hide_ours(error)
            raise
        given = args[0] if args else kwargs.get("new_scale")
        taps.emit("scaler_updated", scaler, given is not None)
        return result

    return named_like(update, original)


def _optimizer(args: Any, kwargs: Any) -> Any:
    return args[0] if args else kwargs.get("optimizer")
