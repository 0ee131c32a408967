"""This file is the consumers: which nodes of a graph work on what a node gave, and where that leads."""

from collections.abc import Iterable
from typing import Any

# What multiplies by weights, or takes all features together: whatever comes before it is hidden.
WEIGHTED = (
    "Addmm", "Mm", "Mv", "Addmv", "Bmm", "Baddbmm", "Convolution", "Linear", "NativeLayerNorm", "NativeBatchNorm",
    "NativeGroupNorm", "CudnnBatchNorm", "MkldnnLinear", "MkldnnRnnLayer", "ScaledDotProduct", "Dot", "Matmul",
)  # fmt: skip
# What cuts a tensor into parts, what only lays it out or scales it, and what multiplies batches of matrices.
CUTS = ("Split", "Unbind", "Select", "Slice", "Narrow")
LAYS_OUT = (
    *CUTS, "View", "UnsafeView", "Reshape", "Permute", "Transpose", "MoveDim", "Movedim", "Unsqueeze", "Squeeze",
    "Expand", "Clone", "Mul", "Div", "AsStrided", "TBackward",
)  # fmt: skip
PRODUCTS = ("Bmm", "Baddbmm", "ScaledDotProduct")
# Nodes looked at from one node on.
MOST_FOLLOWED = 64


class Consumers:
    """The nodes of a graph by what they work on.

    Args:
        nodes: All nodes of the graph.
    """

    def __init__(self, nodes: Iterable[Any]) -> None:
        self._by_number: dict[int, list[Any]] = {}
        for node in nodes:
            for parent, _ in node.next_functions:
                if parent is not None:
                    self._by_number.setdefault(number_of(parent), []).append(node)

    def of(self, number: int) -> list[Any]:
        """Return the nodes that work on what the node of this number gave, one for each use."""
        return self._by_number.get(number, [])

    def use_of(self, number: int) -> tuple[bool, bool]:
        """Return whether something with weights works on a node's output, and whether it is multiplied by another."""
        todo, seen, gated = [number], {number}, False
        while todo and len(seen) < MOST_FOLLOWED:
            for node in self.of(todo.pop(0)):
                if node.name().startswith(WEIGHTED):
                    return True, gated
                if _gates(node):
                    gated = True
                elif number_of(node) not in seen:
                    seen.add(number_of(node))
                    todo.append(number_of(node))
        return False, gated

    def attends(self, number: int) -> bool:
        """Whether parts that a node's output is cut into are multiplied with each other, as queries and keys are."""
        todo, seen, cut, products = [number], {number}, False, []
        while todo and len(seen) < MOST_FOLLOWED:
            for node in self.of(todo.pop(0)):
                name = node.name()
                if name.startswith(PRODUCTS):
                    products.append(node)
                elif name.startswith(LAYS_OUT) and number_of(node) not in seen:
                    cut |= name.startswith(CUTS)
                    seen.add(number_of(node))
                    todo.append(number_of(node))
        return cut and any(_num_from(node, seen) > 1 for node in products)


def number_of(node: Any) -> int:
    """Return the number that autograd gave a node; that of a leaf is the same for all, and stands for none."""
    return int(node._sequence_nr())


def _num_from(node: Any, numbers: set[int]) -> int:
    return sum(parent is not None and number_of(parent) in numbers for parent, _ in node.next_functions)


def _gates(node: Any) -> bool:
    """Whether a node multiplies two things that are computed from parameters; a mask or one parameter is no such."""
    if not node.name().startswith("Mul"):
        return False
    parents = [parent for parent, _ in node.next_functions if parent is not None]
    return len([parent for parent in parents if "AccumulateGrad" not in parent.name()]) > 1
