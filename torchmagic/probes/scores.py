"""This file is the scores: losses that are nothing but what one model gives, without a target."""

from typing import Any

import torch

from torchmagic.probes.graph_walk import saved_tensor
from torchmagic.tensors.presence import has_numbers

# Nodes through which a score stays one; what picks by an index, or compares, may bring in a target.
THROUGH = (
    "MeanBackward", "SumBackward", "AddBackward", "StackBackward", "CatBackward", "ViewBackward", "UnsafeViewBackward",
    "ReshapeAliasBackward", "SqueezeBackward", "UnsqueezeBackward", "SelectBackward", "SliceBackward", "AliasBackward",
    "CloneBackward", "ToCopyBackward", "TanhBackward", "SigmoidBackward",
)  # fmt: skip
NEGATING, SCALING = "NegBackward", ("MulBackward", "DivBackward")
TURNED, LEAF = "TBackward", "torch::autograd::AccumulateGrad"
# A loss is made of few nodes down to the layers that give it.
MOST_NODES = 64


def scorers(loss: torch.Tensor) -> set[int]:
    """Return the ids of the parameters whose layers give all that a loss is made of, and with one sign.

    Empty for a loss of anything else: what is compared with a target, or one score with another.
    """
    todo = [(loss.grad_fn, 1)]
    found: set[int] = set()
    signs: set[int] = set()
    for _ in range(MOST_NODES):
        if not todo:
            return found if len(signs) == 1 else set()
        node, sign = todo.pop()
        if node is None:
            continue
        parents = [parent for parent, _ in node.next_functions]
        kind = node.name()
        if kind.startswith(NEGATING):
            todo.append((parents[0], -sign))
        elif kind.startswith(SCALING):
            turn = _sign(saved_tensor(node, "_raw_saved_other"))
            if len([parent for parent in parents if parent is not None]) != 1 or not turn:
                return set()
            todo += [(parent, turn * sign) for parent in parents]
        elif given := _given(node):
            found |= given
            signs.add(sign)
        elif kind.startswith(THROUGH):
            todo += [(parent, sign) for parent in parents]
        else:
            return set()
    return set()


def _given(node: Any) -> set[int]:
    """Return the ids of the parameters that a node works with itself, as a layer's does."""
    above = [parent for parent, _ in node.next_functions if parent is not None]
    turned = [parent.next_functions[0][0] for parent in above if parent.name().startswith(TURNED)]
    return {id(each.variable) for each in (*above, *turned) if each is not None and each.name() == LEAF}


def _sign(factor: torch.Tensor | None) -> int:
    """Return the sign of a single number; 0 for anything else, such as a weight of each sample."""
    if factor is None or factor.numel() != 1 or factor.is_complex() or not has_numbers(factor):
        return 0
    return 1 if factor.item() > 0 else -1
