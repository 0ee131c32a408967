"""This file is the wrappers around the clipping of gradients beside ``clip_grad_norm_``."""

from typing import Any

import torch

from torchmagic.probes.tracing import is_compiling
from torchmagic.probes.wrappers import Switchboard, frame_at, named_like


def wrap_clip_value(taps: Switchboard, original: Any) -> Any:
    """Wrap ``clip_grad_value_``: the gradients are told before they are clipped, for it answers no norm."""

    def clip_grad_value_(parameters: Any, *args: Any, **kwargs: Any) -> Any:
        if taps.quiet or is_compiling():
            return original(parameters, *args, **kwargs)
        if not isinstance(parameters, torch.Tensor | list | tuple):
            parameters = list(parameters)  # it may be walked only once
        taps.emit("clip_value", parameters)
        result = original(parameters, *args, **kwargs)
        if taps.heard["clipped"]:
            taps.emit("clipped", parameters, args[0] if args else kwargs.get("clip_value"), frame_at(1))
        return result

    return named_like(clip_grad_value_, original)


def wrap_clip_with_norm(taps: Switchboard, original: Any) -> Any:
    """Wrap ``clip_grads_with_norm_``, which is given the norm before clipping."""

    def clip_grads_with_norm_(parameters: Any, max_norm: Any, total_norm: Any, *args: Any, **kwargs: Any) -> Any:
        result = original(parameters, max_norm, total_norm, *args, **kwargs)
        if not is_compiling():
            taps.emit("clip", total_norm)
            taps.emit("clipped", parameters, max_norm, frame_at(1))
        return result

    return named_like(clip_grads_with_norm_, original)


def wrap_clipping(taps: Switchboard, original: Any) -> Any:
    """Wrap what ``clip_grad_norm_`` clips with, so that it is seen under whatever name the user imported it."""

    def _clip_grads_with_norm_(parameters: Any, max_norm: Any, *args: Any, **kwargs: Any) -> Any:
        result = original(parameters, max_norm, *args, **kwargs)
        if taps.heard["clipped"] and not (taps.quiet or is_compiling()):
            taps.emit("clipped", parameters, max_norm, frame_at(1))
        return result

    return named_like(_clip_grads_with_norm_, original)
