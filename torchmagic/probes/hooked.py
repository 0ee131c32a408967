"""This file is what the taps replace in torch while a run is open, and with which wrapper."""

import importlib
import sys
from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.nn import functional
from torch.utils.data import dataloader

from torchmagic.probes.building_wrappers import (
    wrap_apply,
    wrap_initialiser,
    wrap_module_init,
    wrap_optimizer_init,
)
from torchmagic.probes.call_wrappers import wrap_call
from torchmagic.probes.capture_wrappers import GRAPHS, wrap_capture_begin, wrap_capture_end, wrap_replay
from torchmagic.probes.clip_wrappers import wrap_clip_value, wrap_clip_with_norm, wrap_clipping
from torchmagic.probes.collective_wrappers import (
    COLLECTIVES,
    INITS,
    STARTS,
    WAITS,
    wrap_collective,
    wrap_init,
    wrap_start_processes,
    wrap_wait,
)
from torchmagic.probes.distribution_wrappers import distributions, wrap_log_prob
from torchmagic.probes.dropout_wrappers import DROPOUTS, wrap_dropout
from torchmagic.probes.function_wrappers import wrap_loss, wrap_relu, wrap_sigmoid, wrap_softmax, wrap_sub, wrap_tanh
from torchmagic.probes.functional_wrappers import wrap_functional
from torchmagic.probes.graph_walk import READABLE
from torchmagic.probes.loader_wrappers import wrap_iter, wrap_loader_init, wrap_next_index
from torchmagic.probes.move_wrappers import MOVES, wrap_move
from torchmagic.probes.range_wrappers import wrap_profiler, wrap_ranged, wrap_worker
from torchmagic.probes.read_wrappers import READS, wrap_read
from torchmagic.probes.reset_wrappers import wrap_zero_grad
from torchmagic.probes.saving_wrappers import wrap_saving
from torchmagic.probes.scaler_wrappers import wrap_scale, wrap_scaler_step, wrap_unscale, wrap_update
from torchmagic.probes.schedule_wrappers import SCHEDULERS, wrap_plateau, wrap_schedule
from torchmagic.probes.state_wrappers import wrap_loading, wrap_taking, wrap_writing
from torchmagic.probes.sync_debug import wrap_sync_debug
from torchmagic.probes.wrappers import wrap_backward, wrap_clip, wrap_engine, wrap_next, wrap_train

# Takes the taps and torch's function.
Wrapper = Callable[[Any, Any], Any]
LOSSES = (
    *(name for name in dir(functional) if name.endswith("_loss")),
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "cross_entropy",
    "kl_div",
)
# The functions of ``torch.nn.init`` that fill a tensor, less those that are only their old names.
INITIALISERS = tuple(name for name in dir(nn.init) if name.endswith("_") and not name.startswith("_"))
# Where hooks on what graphs save are put on: the user's, those of offloading and of checkpointing.
SAVING = ((torch.autograd.graph.saved_tensors_hooks, "__enter__"),)
REPLACED: tuple[tuple[Any, str, Wrapper], ...] = (
    (nn.Module, "__call__", wrap_call),
    (nn.Module, "train", wrap_train),
    (torch.autograd, "backward", wrap_backward),
    (torch.autograd, "_engine_run_backward", wrap_engine),
    (torch._functorch.eager_transforms, "grad_and_value_impl", wrap_functional),
    (dataloader._BaseDataLoaderIter, "__next__", wrap_next),
    (dataloader._BaseDataLoaderIter, "_next_index", wrap_next_index),
    (dataloader.DataLoader, "__iter__", wrap_iter),
    (dataloader.DataLoader, "__init__", wrap_loader_init),
    *((scheduler, "step", wrap_schedule) for scheduler in SCHEDULERS),
    (torch.optim.lr_scheduler.ReduceLROnPlateau, "__init__", wrap_plateau),
    *((functional, name, wrap_loss) for name in LOSSES),
    (nn.utils, "clip_grad_norm_", wrap_clip),
    (nn.utils.clip_grad, "clip_grad_norm_", wrap_clip),
    (nn.utils, "clip_grad_value_", wrap_clip_value),
    (nn.utils.clip_grad, "clip_grad_value_", wrap_clip_value),
    (nn.utils, "clip_grads_with_norm_", wrap_clip_with_norm),
    (nn.utils.clip_grad, "_clip_grads_with_norm_", wrap_clipping),
    (torch.optim.Optimizer, "zero_grad", wrap_zero_grad),
    (nn.Module, "zero_grad", wrap_zero_grad),
    (torch.optim.Optimizer, "__init__", wrap_optimizer_init),
    (nn.Module, "__init__", wrap_module_init),
    (nn.Module, "load_state_dict", wrap_loading),
    (nn.Module, "state_dict", wrap_taking),
    *((owner, "save", wrap_writing) for owner in (torch, torch.serialization)),
    (nn.Module, "apply", wrap_apply),
    *((nn.init, name, wrap_initialiser) for name in INITIALISERS),
    (torch.amp.GradScaler, "scale", wrap_scale),
    (torch.amp.GradScaler, "unscale_", wrap_unscale),
    (torch.amp.GradScaler, "step", wrap_scaler_step),
    (torch.amp.GradScaler, "update", wrap_update),
    *((owner, name, wrap_saving) for owner, name in SAVING if not READABLE),
    *((graph, "capture_begin", wrap_capture_begin) for graph in GRAPHS),
    *((graph, "capture_end", wrap_capture_end) for graph in GRAPHS),
    *((graph, "replay", wrap_replay) for graph in GRAPHS),
    (torch.cuda, "set_sync_debug_mode", wrap_sync_debug),
    *((owner, name, wrap_init) for owner, name in INITS),
    *((owner, name, wrap_start_processes) for owner, name in STARTS),
)


def _forms_of(name: str) -> tuple[tuple[Any, str], ...]:
    """Return the places of a function that is one of torch, of ``nn.functional`` and of tensors."""
    return (torch, name), (functional, name), (torch.Tensor, name)


# The functions, other than softmax, of which every answer lies in a range.
BOUNDED = (
    *(place for name in ("sigmoid", "tanh", "relu") for place in _forms_of(name)),
    *((functional, name) for name in ("softplus", "relu6", "hardtanh", "hardsigmoid")),
)
# What is wrapped only while somebody wants to see it.
SEEN: dict[str, tuple[Wrapper, tuple[tuple[Any, str], ...]]] = {
    "relu": (wrap_relu, (*_forms_of("relu"), (torch, "relu_"), (functional, "relu_"), (functional, "relu6"))),
    "sigmoid": (wrap_sigmoid, _forms_of("sigmoid")),
    "tanh": (wrap_tanh, _forms_of("tanh")),
    "softmax": (
        wrap_softmax,
        tuple((owner, name) for name in ("softmax", "log_softmax") for owner in (functional, torch, torch.Tensor)),
    ),
    "bounded": (wrap_softmax, BOUNDED),
    "dropout": (wrap_dropout, DROPOUTS),
    "log_prob": (wrap_log_prob, distributions()),
    "subtraction": (
        wrap_sub,
        ((torch.Tensor, "__sub__"), (torch.Tensor, "sub"), (torch, "sub"), (torch, "subtract")),
    ),
    "host_reads": (wrap_read, tuple((torch.Tensor, name) for name in READS)),
    "moves": (wrap_move, tuple((torch.Tensor, name) for name in MOVES)),
    "collectives": (wrap_collective, COLLECTIVES),
    "waits": (wrap_wait, WAITS),
    "modules": (wrap_ranged, ((nn.Module, "__call__"),)),
    "profilers": (wrap_profiler, ((torch.autograd.profiler.profile, "_prepare_trace"),)),
    "workers": (wrap_worker, ((torch.utils.data._utils.worker, "_worker_loop"),)),
}


def load_compiler() -> bool:
    """Load what torch itself loads at an optimizer's first step; whether it was new."""
    if "torch._dynamo" in sys.modules:
        return False
    importlib.import_module("torch._dynamo")
    return True
