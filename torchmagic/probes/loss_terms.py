"""This file takes a loss apart: which standard criteria it adds, subtracts and multiplies, and what else there is."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import torch

from torchmagic.probes.graph_walk import saved_tensor

# Nodes that criteria of torch end in; the others are known by the number of the node that they returned.
CRITERIA = {
    "NllLossBackward0": "nll_loss",
    "NllLoss2DBackward0": "nll_loss",
    "MseLossBackward0": "mse_loss",
    "BinaryCrossEntropyBackward0": "binary_cross_entropy",
    "BinaryCrossEntropyWithLogitsBackward0": "binary_cross_entropy_with_logits",
    "SmoothL1LossBackward0": "smooth_l1_loss",
    "HuberLossBackward0": "huber_loss",
    "CtcLossBackward0": "ctc_loss",
    "SoftMarginLossBackward0": "soft_margin_loss",
    "MultiMarginLossBackward0": "multi_margin_loss",
    "MultilabelMarginLossBackward0": "multilabel_margin_loss",
}
# Nodes through which a loss rises where what is below rises.
THROUGH = (
    "Mean", "Sum", "Add", "Stack", "Cat", "View", "Reshape", "Squeeze", "Unsqueeze", "Select", "Slice", "Alias",
    "Clone", "ToCopy", "Sqrt", "Unbind", "Index", "Expand", "MaskedSelect", "Transpose", "Permute", "UnsafeView",
)  # fmt: skip
SQUARE = 2
# Nodes looked at: sums over many heads or steps stay whole.
MOST_NODES = 400

# A node, and the sign and factor with which it enters.
Branch = tuple[Any, int, float]


@dataclass(slots=True)
class Terms:
    """What a loss is made of, as ``ObjectiveRecord`` tells it; ``numbers`` are those of the criteria's nodes."""

    criteria: list[str] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    signs: set[int] = field(default_factory=set)
    scales: list[float] = field(default_factory=list)
    num_others: int = 0
    weighted: bool = False

    @property
    def sign(self) -> int:
        """The sign that all criteria have, or 0."""
        return next(iter(self.signs)) if len(self.signs) == 1 else 0


def terms_of(loss: torch.Tensor, made: Mapping[int, str]) -> Terms:
    """Return the terms of a loss.

    Args:
        loss: On which ``backward`` is called.
        made: Names of criteria by the number that autograd gave the node of their output.
    """
    found = Terms()
    todo: list[Branch] = [(loss.grad_fn, 1, 1.0)]
    for _ in range(MOST_NODES):
        if not todo:
            return found
        node, sign, scale = todo.pop()
        if node is None:
            continue
        kind = node.name()
        number = int(node._sequence_nr())
        name = CRITERIA.get(kind) or made.get(number) or _by_hand(node, kind)
        if name is not None:
            found.criteria.append(made.get(number, name))
            found.numbers.append(number)
            found.signs.add(sign)
            found.scales.append(scale)
        elif kind.startswith(THROUGH):
            todo += [(parent, sign, scale) for parent, _ in node.next_functions]
        elif (below := _signed(node, kind, found)) is not None:
            todo += [(parent, sign * turn, scale * size) for parent, turn, size in below]
        else:
            found.num_others += 1
    found.num_others += len(todo)
    return found


def _by_hand(node: Any, kind: str) -> str | None:
    """Return the criterion that a node stands for where it is written out: a distance from what does not learn."""
    parents = [parent for parent, _ in node.next_functions]
    square = kind == "PowBackward0" and getattr(node, "_saved_exponent", None) == SQUARE
    product = kind == "MulBackward0" and parents[0] is parents[1]
    if not (square or product or kind == "AbsBackward0"):
        return None
    difference = parents[0]
    if difference is None or difference.name() != "SubBackward0":
        return None
    learning = [side for side, _ in difference.next_functions if side is not None]
    return None if len(learning) != 1 else "l1_loss" if kind == "AbsBackward0" else "mse_loss"


def _signed(node: Any, kind: str, found: Terms) -> list[Branch] | None:
    """Return what is below a node that may turn or scale it, with sign and factor; None for any other node."""
    parents = [parent for parent, _ in node.next_functions]
    if kind in ("NegBackward0", "RsubBackward1"):
        return [(parents[0], -1, 1.0)]
    if kind == "SubBackward0":
        return [(parent, -1 if i else 1, 1.0) for i, parent in enumerate(parents)]
    if kind == "MulBackward0":
        others = ("_raw_saved_other", "_raw_saved_self")
        pairs = zip(parents, others, strict=True)
        return [(each, *_factor(saved_tensor(node, other), found)) for each, other in pairs if each is not None]
    if kind == "DivBackward0":
        turn, size = _factor(saved_tensor(node, "_raw_saved_other"), found)
        return [(parents[0], turn, 1 / size if size else math.nan)]
    return [(parents[0], 1, math.nan)] if kind == "DivBackward1" else None  # by a size that is traced


def _factor(values: torch.Tensor | None, found: Terms) -> tuple[int, float]:
    """Return the sign and size of what a term is multiplied by."""
    if values is None or not values.numel() or values.is_complex() or values.is_meta:
        return 0, math.nan
    low, high = (each.item() for each in torch.aminmax(values.detach()))
    if low < 0 < high:
        found.weighted = True
        return 0, math.nan
    return -1 if low < 0 else 1, abs(high) if low == high else math.nan
