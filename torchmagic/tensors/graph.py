"""This file is how a tensor came about: the operations that autograd recorded, a few hops back."""

from collections.abc import Mapping
from typing import Any

import torch

from torchmagic.records.tensor_relations import GraphNode

MOST_HOPS, MOST_NODES, MOST_INPUTS = 4, 8, 4


def graph_of(tensor: torch.Tensor, names: Mapping[int, str]) -> tuple[GraphNode, ...]:
    """Return the operations before a tensor, nearest first.

    Args:
        tensor: Any tensor; a leaf has none.
        names: Name of each known parameter, by its ``id``.
    """
    found: list[GraphNode] = []
    front: list[Any] = [tensor.grad_fn] if tensor.grad_fn is not None else []
    seen: set[Any] = set()
    for hops in range(MOST_HOPS):
        behind: list[Any] = []
        for node in front:
            if node in seen or len(found) == MOST_NODES:
                continue
            seen.add(node)
            before = [each for each, _ in node.next_functions if each is not None]
            leaves = [each.variable for each in before if hasattr(each, "variable")]
            found.append(_node(node, hops, leaves, names))
            behind += [each for each in before if not hasattr(each, "variable")]
        front = behind
    return tuple(found)


def _node(node: Any, hops: int, leaves: list[torch.Tensor], names: Mapping[int, str]) -> GraphNode:
    known = [names[id(leaf)] for leaf in leaves if id(leaf) in names]
    owners = {name.rpartition(".")[0] for name in known}
    return GraphNode(
        name=type(node).__name__,
        hops=hops,
        module=owners.pop() if len(owners) == 1 else "",
        inputs=tuple(names.get(id(leaf), f"leaf {list(leaf.shape)}") for leaf in leaves[:MOST_INPUTS]),
    )
