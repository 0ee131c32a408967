"""This file is the rows of a loss: over how many values its graph says that it was taken."""

from typing import Any

import torch

# Nodes that are looked at: what leads from a loss to its criterion is short.
MOST_NODES = 16
# Rows are looked for at so many first losses, then at every sixteenth one, and where a loss has risen by such a share:
# how far it may stand out depends on them. Of a loss that cannot be read yet they are looked for each time.
FIRST_LOSSES, BETWEEN_LOOKS, RISE = 64, 16, 0.5


class Rows:
    """Over how many samples a loss is taken, from one to the next.

    Attributes:
        known: What was found last; 0 before.
    """

    __slots__ = ("_before", "_moved", "_seen", "known")

    def __init__(self) -> None:
        self.known = self._seen = 0
        self._before, self._moved = 0.0, False

    def changed(self, loss: torch.Tensor, value: float | None) -> bool:
        """Take in a loss; tell whether it is known to be over another number of samples than the one before.

        Args:
            loss: With its graph.
            value: The number that it holds; None where it cannot be read yet.
        """
        self._seen += 1
        if value is not None:
            calm = value - self._before <= RISE * abs(self._before) and not self._moved
            self._before = value
            if calm and self._seen > FIRST_LOSSES and self._seen % BETWEEN_LOOKS:
                return False
        return self.are(rows_of(loss))

    def are(self, rows: int) -> bool:
        """Take in how many samples there are, 0 where that is unknown; tell whether these are others than before."""
        self._moved = bool(rows) and rows != self.known
        if self._moved:
            self.known = rows
        return self._moved


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
