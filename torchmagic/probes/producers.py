"""This file is the producers: which softmax made a tensor, by module and line."""

from types import FrameType
from typing import Any

import torch
from torch import nn

from torchmagic.probes.cast import Cast
from torchmagic.probes.sites import Site, site_of
from torchmagic.probes.taps import Taps

# Nodes that only look at a tensor in another way.
VIEWS = ("View", "Reshape", "Transpose", "Permute", "Squeeze", "Unsqueeze", "Alias", "Slice", "Select", "TBackward")
# A tensor between softmax and loss passes through few of them.
MOST_VIEWS = 6
# Softmaxes remembered within a step; attention in a deep model makes many, the last ones matter.
MOST_REMEMBERED = 256
# How many callers up the module of a softmax stands: nn.Softmax.forward or a user's own forward.
MOST_CALLERS = 8


class Producers:
    """Remembers softmaxes by the number that autograd gives their node, so that nothing is kept alive."""

    def __init__(self, cast: Cast) -> None:
        self._cast = cast
        self._made: dict[int, tuple[str | None, Site | None]] = {}
        self._places: dict[Any, tuple[str | None, Site | None]] = {}

    def attach(self, taps: Taps) -> None:
        """Listen for softmaxes."""
        taps.on("softmax", self._softmax)

    def clear(self) -> None:
        """Forget the step's tensors."""
        self._made.clear()

    def of(self, node: Any) -> tuple[str | None, Site | None]:
        """Return the module path and line of the softmax with this autograd node; None where unknown."""
        return self._made.get(_number(node), (None, None)) if node is not None else (None, None)

    def _softmax(self, output: Any, frame: FrameType) -> None:
        if isinstance(output, torch.Tensor) and output.grad_fn is not None and len(self._made) < MOST_REMEMBERED:
            self._made[_number(output.grad_fn)] = self._place(frame)

    def _place(self, frame: FrameType) -> tuple[str | None, Site | None]:
        module = module_of(frame)
        key = (frame.f_code, frame.f_lineno, id(module))
        place = self._places.get(key)
        if place is None:
            path = self._cast.path_of(module) if module is not None else None
            place = self._places[key] = (path, site_of(frame))
        return place


def source_node(tensor: torch.Tensor, *, stop: tuple[str, ...] = ()) -> Any:
    """Return the autograd node that made a tensor, looking through views (but not those named in ``stop``)."""
    return through_views(tensor.grad_fn, stop=stop)


def through_views(node: Any, *, stop: tuple[str, ...] = ()) -> Any:
    """Return the first node, from this one up, that is no view (or is named in ``stop``)."""
    for _ in range(MOST_VIEWS):
        if node is None or any(word in node.name() for word in stop) or not node.name().startswith(VIEWS):
            return node
        node = node.next_functions[0][0] if node.next_functions else None
    return node


def _number(node: Any) -> int:
    return int(node._sequence_nr())


def module_of(frame: FrameType | None) -> nn.Module | None:
    """Return the module whose method is the nearest at or above a frame."""
    for _ in range(MOST_CALLERS):
        if frame is None:
            return None
        owner = frame.f_locals.get("self")
        if isinstance(owner, nn.Module):
            return owner
        frame = frame.f_back
    return None
