"""This file is the wrapper around the functions of dropout that ``torch.nn.functional`` calls, and around attention."""

from typing import Any

import torch
from torch.nn import functional

from torchmagic.probes.tracing import is_compiling
from torchmagic.probes.wrappers import Switchboard, frame_at, named_like

# Functions imported under another name, and modules, come by here; p and training are their second and third argument.
DROPOUTS = (
    *(
        (torch._VF, f"{kind}dropout{mark}")
        for kind in ("", "alpha_", "feature_", "feature_alpha_")
        for mark in ("", "_")
    ),
    (torch, "dropout"),
    (torch, "alpha_dropout"),
    (torch, "feature_dropout"),
    (functional, "scaled_dot_product_attention"),
)  # fmt: skip
# Of attention the fifth argument is a probability, and there is nothing that says whether it is active.
ATTENTION, FIFTH = "scaled_dot_product_attention", 4


def wrap_dropout(taps: Switchboard, original: Any) -> Any:
    """Wrap a function of dropout: only a call that is active makes an event."""
    name = original.__name__
    if name == ATTENTION:
        return _wrap_attention(taps, original)

    def dropout(*args: Any, **kwargs: Any) -> Any:
        output = original(*args, **kwargs)
        p = args[1] if len(args) > 1 else kwargs.get("p", 0)
        training = args[2] if len(args) > 2 else kwargs.get("train", False)  # noqa: PLR2004 - the third argument
        if training and p and not (taps.quiet or is_compiling()):
            taps.emit("dropout", name, p, frame_at(1))
        return output

    return named_like(dropout, original)


def _wrap_attention(taps: Switchboard, original: Any) -> Any:
    def attention(*args: Any, **kwargs: Any) -> Any:
        output = original(*args, **kwargs)
        p = args[FIFTH] if len(args) > FIFTH else kwargs.get("dropout_p", 0)
        if p and not (taps.quiet or is_compiling()):
            taps.emit("dropout", ATTENTION, p, frame_at(1))
        return output

    return named_like(attention, original)
