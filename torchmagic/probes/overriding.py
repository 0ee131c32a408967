"""This file tells tensors whose class answers for itself from all others, whatever mode is on."""

import torch
from torch._C import _disabled_torch_function_impl

_TORCHS = (vars(torch.Tensor)["__torch_function__"].__func__, _disabled_torch_function_impl)


def overrides_functions(tensor: torch.Tensor) -> bool:
    """Whether a tensor's class has its own ``__torch_function__``, so that reading a shape runs code of its own.

    ``torch.overrides.has_torch_function`` says so of every tensor while a mode is on, as after
    ``torch.set_default_device``.
    """
    found = type(tensor).__torch_function__
    return getattr(found, "__func__", found) not in _TORCHS
