"""This file is the producers: which operation made a tensor, by module and line."""

from collections.abc import Iterator
from types import FrameType
from typing import Any

import torch

from torchmagic.probes.cast import Cast
from torchmagic.probes.sites import Site, site_of
from torchmagic.probes.taps import Taps

# Nodes that only look at a tensor in another way.
VIEWS = ("View", "Reshape", "Transpose", "Permute", "Squeeze", "Unsqueeze", "Alias", "Slice", "Select", "TBackward")
# Nodes that leave what matters of the values as it is: a copy, another type, some of the rows, a limit.
GENTLE = (
    *VIEWS, "Clamp", "ToCopy", "Clone", "Expand", "UnsafeView", "Index", "Gather", "Unbind", "Split", "Cat", "Stack",
)  # fmt: skip
# Those of them that leave some values out, or join several tensors.
CUTTING = ("Slice", "Select", "Index", "Gather", "Unbind", "Split", "Cat", "Stack")
# A tensor between softmax and loss passes through few of them.
MOST_VIEWS = 8
# Softmaxes remembered within a step; attention in a deep model makes many, the last ones matter.
MOST_REMEMBERED = 256
# The operations that are told apart, by how their nodes' names begin; the longer of two that begin alike comes first.
KINDS = {
    "LogSoftmax": "log_softmax", "LogSigmoid": "log_sigmoid", "Logsumexp": "logsumexp", "Log": "log",
    "Softmax": "softmax", "Sigmoid": "sigmoid", "Hardsigmoid": "sigmoid", "Tanh": "tanh", "Relu": "relu",
    "Softplus": "softplus", "Hardtanh": "hardtanh", "Clamp": "clamp",
}  # fmt: skip


class Producers:
    """Remembers softmaxes by the number that autograd gives their node, so that nothing is kept alive.

    Other functions with a bounded answer, such as a sigmoid, are remembered while somebody has asked for them.
    """

    def __init__(self, cast: Cast) -> None:
        self._cast = cast
        self._taps: Taps | None = None
        self._listens = False
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
            self._listens = seen
            self._taps.sees_modules = seen
            self._taps.see("softmax", seen=seen)
            if not seen:
                self._taps.see("bounded", seen=False)

    def want_bounded(self) -> None:
        """Remember the other bounded functions too, as long as softmaxes are."""
        if self._taps is not None and self._listens:
            self._taps.see("bounded", seen=True)

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


def source_node(tensor: torch.Tensor, *, stop: tuple[str, ...] = (), gentle: bool = False) -> Any:
    """Return the autograd node that made a tensor, looking through views (but not those named in ``stop``)."""
    return through_views(tensor.grad_fn, stop=stop, gentle=gentle)


def through_views(node: Any, *, stop: tuple[str, ...] = (), gentle: bool = False) -> Any:
    """Return the first node, from this one up, that is no view (or is named in ``stop``).

    Args:
        node: Where to begin.
        stop: Words in the names of nodes that are not looked through.
        gentle: Look through copies, changes of type, choices of rows and limits too.
    """
    names = GENTLE if gentle else VIEWS
    for _ in range(MOST_VIEWS):
        if node is None or any(word in node.name() for word in stop) or not node.name().startswith(names):
            return node
        node = node.next_functions[0][0] if node.next_functions else None
    return node


def is_partial(node: Any, source: Any) -> bool:
    """Whether only a part of what a source gave came through to a node, or it was joined with others."""
    for _ in range(MOST_VIEWS):
        if node is None or node is source:
            return False
        if node.name().startswith(CUTTING):
            return True
        node = node.next_functions[0][0] if node.next_functions else None
    return False


def kind_of(node: Any) -> str:
    """Return which operation a node stands for, one of ``KINDS``; empty for any other."""
    if node is None:
        return ""
    name = node.name()
    found = next((kind for start, kind in KINDS.items() if name.startswith(start)), "")
    return found or ("sigmoid" if _is_sigmoid_by_hand(node) else "")


def parent_of(node: Any) -> Any:
    """Return the node that made a node's first input, looking through gentle nodes."""
    return through_views(node.next_functions[0][0], gentle=True) if node is not None and node.next_functions else None


def parents(node: Any) -> list[Any]:
    """Return the nodes that made a node's inputs, as far as they have any."""
    return [parent for parent, _ in node.next_functions if parent is not None] if node is not None else []


def nearest(node: Any, most: int) -> Iterator[Any]:
    """Yield the nodes nearest to a node, itself first, in order."""
    found, seen = [node] if node is not None else [], {node}
    for each in found:  # grows as it is gone through
        yield each
        if len(found) < most:
            new = [parent for parent in parents(each) if parent not in seen]
            seen.update(new)
            found += new


def _is_sigmoid_by_hand(node: Any) -> bool:
    """Whether a node is the quotient of 1, or an exponential, and 1 plus an exponential."""
    if node.name().startswith("Mul") and len(parents(node)) == 1:
        node = parents(node)[0]  # 1 / x is the reciprocal times 1
    if node.name().startswith("Reciprocal"):
        below = node.next_functions[0][0]
    elif node.name().startswith("Div") and len(node.next_functions) > 1:
        below = node.next_functions[1][0]
        above = node.next_functions[0][0]
        if above is not None and not above.name().startswith("Exp"):
            return False
    else:
        return False
    return bool(below is not None and below.name().startswith("Add") and _only_exp(below))


def _only_exp(node: Any) -> bool:
    above = parents(node)
    return len(above) == 1 and above[0].name().startswith("ExpBackward")


def _number(node: Any) -> int:
    return int(node._sequence_nr())
