"""This file is the producers: which softmax made a tensor, by module and line."""

from types import FrameType
from typing import Any

import torch

from torchmagic.probes.cast import Cast
from torchmagic.probes.sites import Site, site_of
from torchmagic.probes.taps import Taps

# Nodes that only look at a tensor in another way.
VIEWS = ("View", "Reshape", "Transpose", "Permute", "Squeeze", "Unsqueeze", "Alias", "Slice", "Select", "TBackward")
# A tensor between softmax and loss passes through few of them.
MOST_VIEWS = 6
# Softmaxes remembered within a step; attention in a deep model makes many, the last ones matter.
MOST_REMEMBERED = 256


class Producers:
    """Remembers softmaxes by the number that autograd gives their node, so that nothing is kept alive."""

    def __init__(self, cast: Cast) -> None:
        self._cast = cast
        self._taps: Taps | None = None
        self._made: dict[int, tuple[str | None, Site | None]] = {}
        self._places: dict[Any, tuple[str | None, Site | None]] = {}

    def attach(self, taps: Taps) -> None:
        """Listen for softmaxes, and for the modules that they stand in."""
        self._taps = taps
        self.listen(seen=True)
        taps.on("softmax", self._softmax)

    def listen(self, *, seen: bool) -> None:
        """Switch the wrappers that tell of softmaxes, and the note of the modules that they stand in."""
        if self._taps is not None:
            self._taps.sees_modules = seen
            self._taps.see("softmax", seen=seen)

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
        module = self._taps.stack[-1] if self._taps is not None and self._taps.stack else None
        key = (Site(frame.f_code, frame.f_lineno), id(module))
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
