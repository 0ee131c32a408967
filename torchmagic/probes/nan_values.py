"""This file is the NaN in values: which tensor of an output is looked at, and whether it holds some."""

import math
from typing import Any

import torch
from torch.utils._pytree import tree_leaves


def first_floats(output: Any) -> torch.Tensor | None:
    """Return the first tensor of an output that can hold NaN; None where it is of a kind of its own."""
    found = [output] if type(output) is torch.Tensor else tree_leaves(output)
    first = next((each for each in found if type(each) is torch.Tensor and each.is_floating_point()), None)
    plain = first is not None and first.layout is torch.strided and not first.is_meta and first.numel()
    return first.detach() if first is not None and plain else None


def is_near(value: torch.Tensor) -> bool:
    """Whether a value can be read without waiting for a device."""
    return value.is_cpu


def has_nan(value: torch.Tensor) -> bool:
    """Whether there is NaN: one reduction, and a second look only when the sum says so."""
    return math.isnan(number_of(value)) and bool(torch.isnan(value).any())


def is_all_nan(value: torch.Tensor) -> bool:
    """Whether there is nothing but NaN."""
    return bool(torch.isnan(value).all())


def number_of(value: torch.Tensor) -> float:
    """Return the sum of values; 0 where a transform of torch's runs, in which nothing can be read."""
    try:
        return float((value if value.numel() == 1 else value.sum()).item())
    except RuntimeError:
        return 0.0
