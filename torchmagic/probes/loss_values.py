"""This file is the values of a loss's input: in which range they lie, and what they sum to over the classes."""

import math
from typing import Any

import torch

from torchmagic.tensors.glance import readable
from torchmagic.tensors.reduce import fetch

# Losses that want logarithms of probabilities, scores of classes, logits of two classes, probabilities, numbers.
LOG_LOSSES = frozenset({"nll_loss", "kl_div", "ctc_loss"})
CLASS_LOSSES = frozenset({"cross_entropy", "nll_loss"})
LOGIT_LOSSES = frozenset({"binary_cross_entropy_with_logits", "multilabel_soft_margin_loss"})
PROBABILITY_LOSSES = frozenset({"binary_cross_entropy"})
REGRESSIONS = frozenset({"mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "difference"})
# Where each operation's answers lie.
RANGES = {
    "sigmoid": (0.0, 1.0), "softmax": (0.0, 1.0), "tanh": (-1.0, 1.0),
    "relu": (0.0, math.inf), "softplus": (0.0, math.inf), "log_sigmoid": (-math.inf, 0.0),
}  # fmt: skip
# Rows that are looked at in a batch, positions within a row, and values of targets.
MOST_ROWS, MOST_PLACES, MOST_TARGETS = 64, 16, 4096
# A logit of zero stands for this probability.
LEAST_LIKELY = 0.5
# A target lies outside of a range when it does by more than this share of the targets' spread.
MARGIN = 0.01


def range_of(kind: str, node: Any) -> tuple[float, float] | None:
    """Return the range in which an operation's answers lie; None for one without limits."""
    if kind == "hardtanh":
        return float(node._saved_min_val), float(node._saved_max_val)
    return RANGES.get(kind)


def few(tensor: torch.Tensor, dim: int) -> torch.Tensor:
    """Return a corner of a batch that is whole along ``dim``."""
    for other in range(tensor.dim()):
        if other != dim:
            tensor = tensor.narrow(other, 0, min(tensor.shape[other], MOST_ROWS if other == 0 else MOST_PLACES))
    return tensor


def measured(
    name: str, given: torch.Tensor, target: torch.Tensor | None, kind: str, node: Any, *, clamped: bool
) -> dict[str, Any]:
    """Return the numbers of a ``LossInputRecord``.

    Args:
        name: Name of the loss.
        given: Its input.
        target: Its target.
        kind: The operation that made the input.
        node: Its node.
        clamped: Whether a clamp came after it.
    """
    dim = _class_dim(name, given)
    rows = few(given, dim if dim is not None else given.dim())
    rows = rows.float() if rows.dtype in (torch.float16, torch.bfloat16) else rows
    scalars: dict[str, torch.Tensor] = {}
    scalars["low"], scalars["high"] = torch.aminmax(rows)
    if name in LOG_LOSSES | CLASS_LOSSES and dim is not None:
        scalars["sum_error"] = (rows.sum(dim) - 1.0).abs().max()
        scalars["log_error"] = _log_error(name, given, rows, dim)
    if name in PROBABILITY_LOSSES and clamped:
        scalars["at_limits"] = ((rows == scalars["low"]) | (rows == scalars["high"])).float().mean()
    limits = range_of(kind, node)
    if limits is not None and target is not None and readable(target):
        if name in REGRESSIONS:
            _compare(scalars, target.detach(), *limits)
        elif name in LOGIT_LOSSES and limits[0] == 0.0 and math.isinf(limits[1]):
            _compare(scalars, target.detach(), LEAST_LIKELY, 1.0)
    facts: dict[str, Any] = dict(zip(scalars, fetch(list(scalars.values())), strict=True))
    if limits is not None:
        facts["range_low"], facts["range_high"] = limits
    facts["num_classes"] = given.shape[dim] if dim is not None else 0
    facts["rows"] = rows.numel() // rows.shape[dim] if dim is not None else rows.numel()
    facts["single"] = kind in ("softmax", "log_softmax") and _is_single(node)
    return facts


def _class_dim(name: str, given: torch.Tensor) -> int | None:
    if name in CLASS_LOSSES and given.dim():
        return 1 if given.dim() > 1 else 0
    return given.dim() - 1 if name in LOG_LOSSES and given.dim() else None


def _log_error(name: str, given: torch.Tensor, rows: torch.Tensor, dim: int) -> torch.Tensor:
    """Return how far the classes' probabilities are from summing to 1; over the best dimension where any will do."""
    error = rows.logsumexp(dim).abs().max()
    if name == "kl_div":
        for other in range(1, dim):
            error = torch.minimum(error, few(given, other).float().logsumexp(other).abs().max())
    return error


def _compare(scalars: dict[str, torch.Tensor], target: torch.Tensor, low: float, high: float) -> None:
    values = target.reshape(-1)
    values = values[:: 1 + values.numel() // MOST_TARGETS]
    scalars["target_low"], scalars["target_high"] = torch.aminmax(values)
    margin = MARGIN * (scalars["target_high"] - scalars["target_low"])
    scalars["outside"] = ((values < low - margin) | (values > high + margin)).float().mean()


def _is_single(node: Any) -> bool:
    shape = tuple(node._input_metadata[0].shape)
    return bool(shape) and shape[axis_of(node, len(shape))] == 1


def axis_of(node: Any, dims: int) -> int:
    """Return the dimension over which a softmax node normalises, counted from the first of so many."""
    dim = int(node._saved_dim)
    return dim - (1 << 64) + dims if dim > (1 << 63) else dim
