"""This file tells batches from each other: by the object, by where it lies, and by some of its values."""

import weakref
from typing import NamedTuple

import torch

SAMPLE = 8


class Identity(NamedTuple):
    """What is remembered of a batch, which is not kept alive."""

    ref: weakref.ref[torch.Tensor]
    address: int
    values: str


def identity_of(tensor: torch.Tensor) -> Identity:
    """Return what tells a batch from another; on a device no values are fetched."""
    mapped = torch._C._functorch.is_functorch_wrapped_tensor(tensor)  # what vmap and grad pass on lies nowhere
    if tensor.is_meta or tensor.layout is not torch.strided or mapped:
        return Identity(weakref.ref(tensor), id(tensor), "")
    part = tensor.detach()
    while part.dim() > 1 and len(part):
        part = part[len(part) // 2]
    readable = part.is_cpu and part.dim() == 1 and not part.is_quantized
    values = repr(part[len(part) // 2 - SAMPLE // 2 :][:SAMPLE].tolist()) if readable and len(part) > SAMPLE else ""
    if readable and len(part) <= SAMPLE:
        values = repr(part.tolist())
    return Identity(weakref.ref(tensor), tensor.data_ptr(), values)


def differ(first: Identity, second: Identity) -> bool:
    """Whether two batches are not the same tensor, nor the same values at the same place."""
    before = first.ref()
    same_object = before is not None and before is second.ref()
    return not same_object and first[1:] != second[1:]
