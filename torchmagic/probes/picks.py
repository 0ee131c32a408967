"""This file is the picks: softmaxes of which each sample's value is picked along a dimension that is not theirs."""

from collections.abc import Iterator, Sequence
from typing import Any

import torch

from torchmagic.probes.graph_walk import saved_tensor, saved_tensors
from torchmagic.probes.loss_values import axis_of
from torchmagic.probes.producers import parents
from torchmagic.probes.weighted_sums import Mismatch

# What probabilities go through before one a sample is picked.
BETWEEN = ("Log", "Add", "Clamp", "ToCopy", "Clone")
MOST_BETWEEN = 4
SOFTMAXES = ("SoftmaxBackward", "LogSoftmaxBackward")


def picks(nodes: Sequence[Any]) -> Iterator[Mismatch]:
    """Yield the softmaxes over the rows of a matrix of which one value a row is picked, as that of its class is.

    A square matrix compares all with all: there both ways are meant.
    """
    told: set[Any] = set()
    for node in nodes:
        softmax = _softmax_above(node) if _picks_one_a_row(node) else None
        if softmax is None or softmax in told:
            continue
        rows, columns = softmax._input_metadata[0].shape
        if axis_of(softmax, 2) == 0 and rows != columns and min(rows, columns) > 1:
            told.add(softmax)
            yield Mismatch(softmax, "picked", 0, 1, (rows, columns))


def _softmax_above(node: Any) -> Any:
    """Return the softmax of a matrix that a node picks from, also from its logarithm; None for anything else."""
    for _ in range(MOST_BETWEEN):
        above = parents(node)
        node = above[0] if len(above) == 1 else None
        if node is None or node.name().startswith(SOFTMAXES) or not node.name().startswith(BETWEEN):
            break
    found = node is not None and node.name().startswith(SOFTMAXES) and len(node._input_metadata[0].shape) == 2  # noqa: PLR2004 - a matrix
    return node if found else None


def _picks_one_a_row(node: Any) -> bool:
    """Whether a node gathers a single column of each row, or has an index of its own for each row."""
    name = node.name()
    if name.startswith("GatherBackward"):
        index = saved_tensor(node, "_raw_saved_index")
        return index is not None and tuple(index.shape[1:]) == (1,) and node._saved_dim % 2 == 1
    if not name.startswith("IndexBackward"):
        return False
    indices = saved_tensors(node, "_raw_saved_indices")  # a whole dimension has none
    if len(indices) != 2 or any(each.dim() != 1 for each in indices):  # noqa: PLR2004 - rows and columns
        return False
    rows = indices[0]
    return rows.dtype is torch.long and torch.equal(rows, torch.arange(len(rows), device=rows.device))
