"""This file is what of a tensor on an accelerator is brought near to be looked at: one transfer, not one a value."""

import torch

# Up to here one transfer takes less time than the launches of the kernels that would spare it.
SMALL_BYTES = 1 << 22


def brought_near(values: torch.Tensor) -> torch.Tensor:
    """Return small values on the host, in one transfer; large ones, and the host's own, as they are.

    Args:
        values: A dense tensor of any shape, dtype, device and strides, without gradient.
    """
    if values.device.type in ("cpu", "meta") or values.numel() * values.element_size() > SMALL_BYTES:
        return values
    return values.to("cpu")


def corners(values: torch.Tensor, edge: int) -> torch.Tensor:
    """Return the first and last of a tensor's values along each dimension on the host, in one transfer.

    Between them one stays of those left out, so that it shows that there are more.

    Args:
        values: A dense tensor of any shape, dtype, device and strides, without gradient.
        edge: How many of each end.
    """
    for dimension, size in enumerate(values.shape):
        if size > 2 * edge + 1:
            first, last = values.narrow(dimension, 0, edge + 1), values.narrow(dimension, size - edge, edge)
            values = torch.cat((first, last), dimension)
    return values.to("cpu")
