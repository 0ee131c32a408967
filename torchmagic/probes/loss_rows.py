"""This file is the rows of a loss: over how many values its graph says that it was taken."""

from typing import Any

import torch

# Nodes that are looked at: what leads from a loss to its criterion is short.
MOST_NODES = 16


def rows_of(loss: torch.Tensor) -> int:
    """Return the first size of what a loss was reduced from, its samples for the usual criteria; 0 where unknown."""
    todo, left = [loss.grad_fn], MOST_NODES
    while todo and left:
        node: Any = todo.pop()
        left -= 1
        if node is None or not node.next_functions:  # a parameter: it has the same size in every batch
            continue
        shape = getattr(node, "_input_metadata", ((),))[0]
        size = tuple(getattr(shape, "shape", ()))
        if size:
            return int(size[0])
        todo.extend(parent for parent, _ in reversed(node.next_functions))
    return 0
