"""This file is what of a tensor on an accelerator is brought near to be looked at: one transfer, not one a value."""

from collections.abc import Sequence

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


def all_brought_near(tensors: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """Return several flat tensors on the host: of those of one kind that fit together, in one transfer.

    Args:
        tensors: Dense ones of one dimension, of any dtype, device and stride, without gradient.
    """
    found, together = list(tensors), dict[tuple[torch.device, torch.dtype], list[int]]()
    for place, each in enumerate(tensors):
        if each.device.type not in ("cpu", "meta"):
            together.setdefault((each.device, each.dtype), []).append(place)
    for places in together.values():
        while places:
            some = _that_fit(tensors, places)
            near = torch.cat([tensors[place] for place in some]).to("cpu")
            parts = torch.split(near, [tensors[place].numel() for place in some])
            for place, part in zip(some, parts, strict=True):
                found[place] = part
    return found


def _that_fit(tensors: Sequence[torch.Tensor], places: list[int]) -> list[int]:
    """Take, off a list of places, the first ones whose tensors are small together; one at the least."""
    size, num = 0, 0
    for place in places:
        size += tensors[place].numel() * tensors[place].element_size()
        if num and size > SMALL_BYTES:
            break
        num += 1
    some, places[:] = places[:num], places[num:]
    return some


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
