"""This file is the rows of a loss: over how many values its graph says that it was taken."""

from typing import Any

import torch

# Nodes that are looked at: what leads from a loss to its criterion is short.
MOST_NODES = 16


def rows_of(loss: torch.Tensor) -> int:
    """Return the first size of what a loss was reduced from, its samples for the usual criteria; 0 where unknown."""
    root = loss.grad_fn
    parents = root.next_functions if root is not None else ()
    if loss.dim():
        return int(loss.shape[0]) if parents else 0
    todo: list[Any] = [parent for parent, _ in reversed(parents)]
    left = MOST_NODES
    while todo and left:
        node = todo.pop()
        left -= 1
        parents = node.next_functions if node is not None else ()
        if not parents:  # a parameter: it has the same size in every batch
            continue
        metadata = getattr(node, "_input_metadata", None)
        size = metadata[0].shape if metadata else None
        if size:
            return int(size[0])
        todo.extend([parent for parent, _ in reversed(parents)])
    return 0
