"""This file is the number that a loss is: of a tensor, of what a model returned with its loss, or of a number."""

from typing import Any

import torch


def loss_number(loss: Any) -> float:
    """Return a loss as a number, waiting for its device; of a tensor with several elements the mean.

    Args:
        loss: A tensor of real numbers, a number, or an object with such a one as ``loss``.

    Raises:
        TypeError: If it is something else; one line.
    """
    if isinstance(loss, torch.Tensor) and loss.numel() and not loss.is_complex() and not loss.is_meta:
        values = loss.detach()
        return float(
            values if values.numel() == 1 else values.to(torch.promote_types(values.dtype, torch.float32)).mean()
        )
    if isinstance(loss, int | float) and not isinstance(loss, bool):
        return float(loss)
    inner = getattr(loss, "loss", None)
    if inner is not None and not isinstance(loss, torch.nn.Module):
        return loss_number(inner)
    came = f"a tensor of {loss.numel()} values, {loss.dtype}" if isinstance(loss, torch.Tensor) else type(loss).__name__
    raise TypeError(f"a loss was wanted (a tensor of real numbers, or a number), {came} came; pass the loss itself")
