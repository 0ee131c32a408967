"""This file tells targets that are made of data and of what the trained model gives, and that have a graph."""

from typing import Any

import torch

from torchmagic.probes.graph_walk import leaves, walk
from torchmagic.probes.producers import parents, through_views

# What chooses between targets of samples that end and of samples that go on.
CHOOSING = "Where"
ADDING, SCALING = ("Add", "Sub", "Rsub"), ("Mul", "Div")


def is_bootstrapped(given: torch.Tensor, target: torch.Tensor | None) -> bool:
    """Whether a target is a reward, or other data, plus a share of an output whose weights learn from it as well.

    Where an input requires a gradient, terms may be derivatives by it, and both sides of an equation are learned.

    Args:
        given: What a loss is given as prediction.
        target: What it is given as target.
    """
    if target is None:
        return False
    node = through_views(target.grad_fn)
    if node is not None and node.name().startswith(CHOOSING):
        node = next((each for each in map(through_views, parents(node)) if _is_sum(each)), None)
    if not _is_sum(node):
        return False
    learning = list(leaves(walk(target).nodes))
    if any(not isinstance(each, torch.nn.Parameter) for each in learning):
        return False
    return not {id(each) for each in learning}.isdisjoint(id(each) for each in leaves(walk(given).nodes))


def _is_sum(node: Any) -> bool:
    """Whether a node adds something without a graph to a share of something with one."""
    if node is None or not node.name().startswith(ADDING) or len(parents(node)) != 1:
        return False
    share = through_views(parents(node)[0])
    return share is not None and share.name().startswith(SCALING)
