"""This file is the recipe for lower precision: the forward under autocast, its outputs in the model's own precision."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import nn
from torch.utils._pytree import tree_map

from torchmagic.tensors.accelerators import autocast_kinds
from torchmagic.tuning.modes import OptimizationMode
from torchmagic.tuning.recipe import Recipe
from torchmagic.tuning.recurrent_layers import in_float32, kept_in_float32
from torchmagic.tuning.setup import Setup, device_of

_LOWER = torch.bfloat16, torch.float16


def _unfit(setup: Setup) -> str:
    kinds = {each.dtype for each in setup.model.parameters() if each.is_floating_point()}
    if torch.float32 not in kinds:
        told = ", ".join(sorted(map(_name, kinds))) or "not floating point"
        return f"autocast lowers float32, and the parameters are {told}"
    device = device_of(setup.model).type
    if device not in autocast_kinds():
        return f"autocast does not know the device {device}"
    wanted = setup.options.get("dtype")
    if wanted is not None and wanted not in _LOWER:
        return f"autocast lowers to bfloat16 or float16, and {wanted} was asked for"
    kept = kept_in_float32(setup.model, device, _dtype(setup))
    lowered = {*setup.model.parameters()} - {weight for each in kept for weight in each.parameters()}
    return "" if lowered else f"{_kept_told(setup, kept)}, and the model has no others"


def _apply(setup: Setup) -> Setup:
    device, dtype = device_of(setup.model).type, _dtype(setup)
    call, is_scaled = setup.call, dtype is torch.float16
    kept = kept_in_float32(setup.model, device, dtype)
    if kept:
        setup.notes.remarks.append(_kept_told(setup, kept))
        call = _keeping(call, device, kept)
    if is_scaled:
        setup.notes.remarks.append("float16: scale the loss with torch.amp.GradScaler; PyTorchOptimizer does so")
    return replace(setup, call=_lowered(call, device, dtype), dtype=dtype, is_scaled=is_scaled)


def _dtype(setup: Setup) -> torch.dtype:
    dtype: torch.dtype | None = setup.options.get("dtype")
    return dtype or _best_dtype(device_of(setup.model).type)


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _kept_told(setup: Setup, kept: Sequence[nn.RNNBase]) -> str:
    kinds = " and ".join(sorted({each.mode.partition("_")[0] for each in kept}))
    device = device_of(setup.model).type
    return f"{kinds} layers run in float32: this {device} cannot run them in {_name(_dtype(setup))}"


def _best_dtype(device: str) -> torch.dtype:
    """Return bfloat16 where the device computes in it; it needs no scaling."""
    if device == "cuda" and not torch.cuda.is_bf16_supported(including_emulation=False):
        return torch.float16
    return torch.bfloat16


def _lowered(call: Callable[..., Any], device: str, dtype: torch.dtype) -> Callable[..., Any]:
    def run(*args: Any, **kwargs: Any) -> Any:
        with torch.autocast(device, dtype=dtype):
            outputs = call(*args, **kwargs)
        return tree_map(_raised, outputs)

    return run


def _keeping(call: Callable[..., Any], device: str, kept: Sequence[nn.RNNBase]) -> Callable[..., Any]:
    def run(*args: Any, **kwargs: Any) -> Any:
        with in_float32(kept, device):
            return call(*args, **kwargs)

    return run


def _raised(value: Any) -> Any:
    return value.float() if isinstance(value, torch.Tensor) and value.dtype in _LOWER else value


AMP = Recipe(
    mode=OptimizationMode.AMP,
    changes="The forward runs under autocast: matrix products and convolutions in bfloat16, on CUDA devices without it "
    "in float16 with scaled losses. Outputs come back in float32, so losses are computed in it. Recurrent layers that "
    "the device cannot run in it stay in float32.",
    applies="float32 models. It pays on devices that compute in lower precision; a CPU without such units gets slower.",
    exactness="Outputs and gradients are rounded to 8 bits of mantissa (bfloat16) or 11 (float16).",
    unfit=_unfit,
    apply=_apply,
    options=("dtype",),
)
