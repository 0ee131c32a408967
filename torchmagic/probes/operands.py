"""This file is the operands: what an operator was given, and where a tensor's values are not finite, in words."""

from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from torchmagic.analyses.counting import counted
from torchmagic.tensors.presence import plain

# An operand is described by at most this many tensors.
MOST_OPERANDS = 3
# Columns and rows named in a record.
MOST_COLUMNS = 6
# In so many rows a column that is never finite is bad as a whole.
FEWEST_ROWS = 4


def operands(call: tuple[Any, Any, Any] | None) -> str:
    """Describe the tensors that an operator was given."""
    if call is None:
        return ""
    given = [each for each in tree_leaves(call[1:]) if isinstance(each, torch.Tensor)]
    return "; ".join(described(each) for each in given[:MOST_OPERANDS])


def described(tensor: torch.Tensor) -> str:
    """Describe a tensor by its shape, its range and its zeros."""
    shape = "×".join(map(str, tensor.shape)) or "scalar"
    values = plain(tensor) if tensor.layout is torch.strided else None
    if values is None or not values.numel() or not values.is_floating_point():
        return f"{shape} {str(tensor.dtype).removeprefix('torch.')}"
    low, high = torch.aminmax(values)
    zeros = values.numel() - int(torch.count_nonzero(values))
    words = f", {counted(zeros, 'zero')}" if zeros else ""
    return f"{shape} from {low.item():.4g} to {high.item():.4g}{words}"


def where_bad(value: torch.Tensor) -> str:
    """Say which columns of a table, or which sample of a batch, hold values that are not finite."""
    bad = _bad(value)
    if bad is None or not bad.any():
        return ""
    if value.dim() == 2:  # noqa: PLR2004 - a table
        columns = bad.any(0).nonzero().flatten().tolist()
        more = f" and {len(columns) - MOST_COLUMNS} more" if len(columns) > MOST_COLUMNS else ""
        return f"columns {', '.join(map(str, columns[:MOST_COLUMNS]))}{more} of {value.shape[1]}"
    first = bad.nonzero()[0].tolist()
    return f"first at index {tuple(first)} of shape {tuple(value.shape)}"


def bad_parts(value: torch.Tensor) -> dict[str, Any]:
    """Return which rows of a batch hold values that are not finite, and how many rows and columns no others."""
    bad = _bad(value)
    if bad is None or not bad.dim():
        return {}
    samples = bad.flatten(1) if bad.dim() > 1 else bad.unsqueeze(1)
    rows = samples.any(1).nonzero().flatten().tolist()
    whole = samples.all(1)
    tells = len(value) >= FEWEST_ROWS
    return {
        "rows": tuple(rows[:MOST_COLUMNS]),
        "empty_columns": int(bad.all(0).sum()) if tells and bad.dim() == 2 else 0,  # noqa: PLR2004 - a table
        "empty_rows": int(whole.sum()) if tells and samples.shape[1] > 1 and not whole.all() else 0,
    }


def _bad(value: torch.Tensor) -> torch.Tensor | None:
    values = plain(value) if value.layout is torch.strided else None
    return None if values is None else ~torch.isfinite(values)
