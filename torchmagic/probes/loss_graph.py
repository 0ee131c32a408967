"""This file reads a loss from its graph: one written by hand, or computed by a function that was not seen."""

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import torch

from torchmagic.probes.graph_walk import saved_tensor
from torchmagic.probes.producers import kind_of, parent_of, parents, through_views

# The nodes of torch's own losses; each has saved what it was given.
FUSED = {
    "NllLoss": "nll_loss", "BinaryCrossEntropyWithLogits": "binary_cross_entropy_with_logits",
    "BinaryCrossEntropy": "binary_cross_entropy", "MseLoss": "mse_loss", "SmoothL1Loss": "smooth_l1_loss",
    "HuberLoss": "huber_loss",
}  # fmt: skip
# Those of them that widen prediction and target to one shape.
WIDENING = ("MseLoss", "SmoothL1Loss", "HuberLoss")
# Nodes of a sum and a mean over everything.
ALL_REDUCED = frozenset({"SumBackward0", "MeanBackward0"})
# What the difference of prediction and target goes through in a loss written by hand.
DISTANCES = ("PowBackward", "AbsBackward", "MulBackward", "LinalgVectorNorm", "Norm")
# What stands between probabilities and their logarithm: a small constant, a limit, the other class.
BEFORE_LOGARITHM = ("Add", "Rsub", "Sub", "Clamp")
# Rows and columns of a table that are looked at, what counts as different by its spread, and what as rounding.
MOST_ROWS, SEEN, ROUNDING = 16, 1e-2, 1e-4


class Input(NamedTuple):
    """The input of a loss: the name of the loss, the node that made the input, and the values.

    The node is the last one before the loss; views may be between it and the operation that counts.
    """

    loss: str
    node: Any
    given: torch.Tensor
    target: torch.Tensor | None


def fused(nodes: Sequence[Any]) -> Iterator[Input]:
    """Yield the inputs of torch's own losses among the nodes."""
    for node in nodes:
        name = next((name for start, name in FUSED.items() if node.name().startswith(start)), "")
        if name and node.next_functions[0][0] is not None:
            given = saved_tensor(node, "_raw_saved_self")
            if given is not None:
                yield Input(name, node.next_functions[0][0], given, saved_tensor(node, "_raw_saved_target"))


def differences(nodes: Sequence[Any]) -> Iterator[Input]:
    """Yield prediction and target of losses written by hand, where the prediction comes from a bounded function.

    What is squared holds the difference. The target is not in the graph; it is the prediction less the difference.
    """
    for node in nodes:
        if node.name().startswith(DISTANCES) and parents(node):
            found = _difference(node)
            if found is not None:
                yield found


def _difference(node: Any) -> Input | None:
    subtraction = through_views(parents(node)[0])
    if subtraction is None or not subtraction.name().startswith("SubBackward") or len(parents(subtraction)) != 1:
        return None
    is_left = subtraction.next_functions[0][0] is not None
    last = parents(subtraction)[0]
    source = through_views(last)
    difference = saved_tensor(node, "_raw_saved_self")
    bounded = kind_of(source) in ("sigmoid", "tanh", "relu", "softmax")
    given = saved_tensor(source, "_raw_saved_result") if bounded else None
    if difference is None or given is None or given.numel() != difference.numel():
        return None
    given = given.detach().reshape(difference.shape)
    return Input("difference", last, given, given - difference if is_left else given + difference)


def squashed_twice(nodes: Sequence[Any]) -> tuple[str, Any, Any] | None:
    """Return ``softmax`` or ``sigmoid``, the node of the first of two, and that of what squashed again; else None."""
    for node in nodes:
        kind = kind_of(node)
        if kind in ("log_softmax", "logsumexp"):
            wanted, inner = "softmax", parent_of(node)
        elif kind == "log_sigmoid":
            wanted, inner = "sigmoid", parent_of(node)
        elif kind == "log":
            outer = _before_logarithm(node)
            wanted = kind_of(outer)
            inner = parent_of(outer) if wanted in ("softmax", "sigmoid") else None
        else:
            continue
        if inner is not None and kind_of(inner) == wanted and inner.name().startswith(("Softmax", "Sigmoid")):
            return wanted, inner, node
    return None


def stretched(nodes: Sequence[Any]) -> tuple[str, tuple[int, ...], tuple[int, ...]] | None:
    """Return a loss and the shapes of its N predictions and of the N by N square that they became; None without one.

    It is one of torch's own losses that widens what it is given, or the product of a logarithm with the targets.
    """
    for node in nodes:
        name = next((FUSED[start] for start in WIDENING if node.name().startswith(start)), "")
        above = node.next_functions[0][0] if name else (parents(node) or [None])[0]
        if name and above is not None and above.name().startswith("Expand"):
            found = _square(parents(above)[0], above)
        elif node.name().startswith("MulBackward") and len(parents(node)) == 1 and _is_logarithm(above):
            name, found = "the product with log-probabilities", _square(above, node)
        else:
            continue
        if found is not None:
            return name, *found
    return None


def weights_stretched(nodes: Sequence[Any]) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]] | None:
    """Return the shapes of N losses, of their N weights, and of the N by N products of which all are added up.

    Such a sum is that of all losses times that of all weights, which nobody writes that way. The weights may be N by N
    themselves, where a row met a column in what they were computed from.
    """
    added_up = {id(above) for node in nodes if node.name() in ALL_REDUCED for above in parents(node)}
    for node in nodes:
        if not node.name().startswith("MulBackward") or len(parents(node)) != 1:
            continue
        given, joint = (tuple(each._input_metadata[0].shape) for each in (parents(node)[0], node))
        rows = max(given, default=0)
        if rows < 2 or joint != (rows, rows):  # noqa: PLR2004 - one meets only itself
            continue
        is_left = node.next_functions[0][0] is not None
        weights = saved_tensor(node, "_raw_saved_other" if is_left else "_raw_saved_self")
        other = tuple(weights.shape) if weights is not None else ()
        if id(node) in added_up and {given, other} == {(rows,), (rows, 1)}:
            return given, other, joint
        if given == (rows,) and other == joint and _is_of_row_and_column(weights):
            return given, other, joint
    return None


def _is_of_row_and_column(table: Any) -> bool:
    """Whether a table is the sum or difference of a row and a column, of which neither is one number all along."""
    few = table.detach()[:MOST_ROWS, :MOST_ROWS].double()
    apart = few - few[0]
    scale = float(few.std())
    if not math.isfinite(scale) or not scale:
        return False
    column, row = float(apart[:, 0].std()), float(few[0].std())
    return min(column, row) > SEEN * scale and float((apart - apart[:, :1]).abs().max()) < ROUNDING * scale


def _square(narrow: Any, wide: Any) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    if "Unsqueeze" in narrow.name():
        return None
    given, joint = (tuple(each._input_metadata[0].shape) for each in (narrow, wide))
    is_column = len(given) == 2 and given[1] == 1 and given[0] > 1  # noqa: PLR2004 - rows and one column
    return (given, joint) if is_column and joint == (given[0], given[0]) else None


def _is_logarithm(node: Any) -> bool:
    return kind_of(through_views(node)) in ("log", "log_sigmoid")


def _before_logarithm(node: Any) -> Any:
    found = parent_of(node)
    for _ in range(3):
        if found is None or not found.name().startswith(BEFORE_LOGARITHM) or len(parents(found)) != 1:
            return found
        found = parent_of(found)
    return found
