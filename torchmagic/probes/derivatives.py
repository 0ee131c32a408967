"""This file is derivatives: which calls of ``torch.autograd.grad`` are the backward of a training."""

from collections.abc import Iterable
from typing import Any

import torch
from torch import nn

from torchmagic.probes.at_work import AtWork


def of_weights(inputs: Any, at_work: AtWork) -> bool:
    """Whether gradients are asked for of what is trained, and not of a batch, as for a penalty or an attack."""
    if not isinstance(inputs, Iterable):
        return False
    leaves = [each for each in inputs if isinstance(each, torch.Tensor) and each.requires_grad and each.is_leaf]
    return any(isinstance(each, nn.Parameter) for each in leaves) or are_stepped(leaves, at_work)


def are_stepped(tensors: Iterable[object], at_work: AtWork) -> bool:
    """Whether one of several tensors is stepped, by an optimizer or by hand."""
    stepped = at_work.stepped
    return any(id(each) in stepped for each in tensors)
