"""This file is what the taps replace in torch while a run is open, and with which wrapper."""

import importlib
import sys
from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.nn import functional
from torch.utils.data import dataloader

from torchmagic.probes.clip_wrappers import wrap_clip_value, wrap_clip_with_norm
from torchmagic.probes.function_wrappers import wrap_loss, wrap_relu, wrap_softmax
from torchmagic.probes.loader_wrappers import wrap_iter, wrap_next_index
from torchmagic.probes.scaler_wrappers import wrap_scale, wrap_scaler_step, wrap_unscale, wrap_update
from torchmagic.probes.schedule_wrappers import SCHEDULERS, wrap_schedule
from torchmagic.probes.wrappers import wrap_backward, wrap_call, wrap_clip, wrap_next, wrap_sub, wrap_train

# Takes the taps and torch's function.
Wrapper = Callable[[Any, Any], Any]
LOSSES = (
    *(name for name in dir(functional) if name.endswith("_loss")),
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "cross_entropy",
    "kl_div",
)
REPLACED: tuple[tuple[Any, str, Wrapper], ...] = (
    (nn.Module, "__call__", wrap_call),
    (nn.Module, "train", wrap_train),
    (torch.autograd, "backward", wrap_backward),
    (dataloader._BaseDataLoaderIter, "__next__", wrap_next),
    (dataloader._BaseDataLoaderIter, "_next_index", wrap_next_index),
    (dataloader.DataLoader, "__iter__", wrap_iter),
    *((scheduler, "step", wrap_schedule) for scheduler in SCHEDULERS),
    *((functional, name, wrap_loss) for name in LOSSES),
    (nn.utils, "clip_grad_norm_", wrap_clip),
    (nn.utils.clip_grad, "clip_grad_norm_", wrap_clip),
    (nn.utils, "clip_grad_value_", wrap_clip_value),
    (nn.utils.clip_grad, "clip_grad_value_", wrap_clip_value),
    (nn.utils, "clip_grads_with_norm_", wrap_clip_with_norm),
    (torch.amp.GradScaler, "scale", wrap_scale),
    (torch.amp.GradScaler, "unscale_", wrap_unscale),
    (torch.amp.GradScaler, "step", wrap_scaler_step),
    (torch.amp.GradScaler, "update", wrap_update),
)
# What is wrapped only while somebody wants to see it.
SEEN: dict[str, tuple[Wrapper, tuple[tuple[Any, str], ...]]] = {
    "relu": (wrap_relu, ((functional, "relu"), (torch, "relu"), (torch.Tensor, "relu"))),
    "softmax": (
        wrap_softmax,
        ((functional, "softmax"), (torch, "softmax"), (torch.Tensor, "softmax")),
    ),
    "subtraction": (wrap_sub, ((torch.Tensor, "__sub__"),)),
}


def load_compiler() -> bool:
    """Load what torch itself loads at an optimizer's first step, before anything is replaced; whether it was new.

    As it loads, ``torch._dynamo`` makes tables of torch's functions by their identity: they must be torch's own.
    """
    if "torch._dynamo" in sys.modules:
        return False
    importlib.import_module("torch._dynamo")
    return True
