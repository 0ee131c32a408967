"""This file knows how models are spread over ranks: what wraps them, and whether a backward exchanges gradients."""

import sys
import weakref
from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch import nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.parallel import DistributedDataParallel

from torchmagic.probes.members import Model
from torchmagic.probes.module_parts import modules_of, parameters_of
from torchmagic.records.place import Place
from torchmagic.records.ranks import Wrapping, WrapRecord
from torchmagic.tensors.checksum import is_shard
from torchmagic.tensors.genuine import is_genuine
from torchmagic.tensors.presence import PLAIN

FSDP = "torch.distributed.fsdp"


def wrapping_of(module: nn.Module) -> Wrapping:
    """Return what a module itself is wrapped by; FSDP's file is not loaded for it."""
    if isinstance(module, DistributedDataParallel):
        return Wrapping.DDP
    fsdp = sys.modules.get(FSDP)
    if fsdp is not None and isinstance(module, getattr(fsdp, "FSDPModule", ())):
        return Wrapping.FSDP2
    if fsdp is not None and isinstance(module, getattr(fsdp, "FullyShardedDataParallel", ())):
        return Wrapping.FSDP
    return Wrapping.NONE


def wrappers_in(module: nn.Module) -> list[nn.Module]:
    """Return the outermost wrapped modules at or inside a module."""
    if wrapping_of(module) is not Wrapping.NONE:
        return [module]
    return [found for child in module.children() for found in wrappers_in(child)]


def exchanges(wrapper: nn.Module) -> bool:
    """Whether a backward now would exchange a wrapped module's gradients with the other ranks."""
    if isinstance(wrapper, DistributedDataParallel):
        return bool(wrapper.require_backward_grad_sync)
    state = getattr(wrapper, "_get_fsdp_state", None)
    if state is not None:
        group = getattr(state(), "_fsdp_param_group", None)
        return bool(getattr(group, "reduce_grads", True))
    return bool(getattr(wrapper, "_sync_gradients", True))


def alone_in(module: nn.Module) -> nn.Module | None:
    """Return what of a module one rank can run by itself, without the others: itself, or a DDP's inside; else None."""
    inside: nn.Module = module.module if isinstance(module, DistributedDataParallel) else module
    parts = list(modules_of(inside))
    if any(wrapping_of(part) is not Wrapping.NONE or isinstance(part, nn.SyncBatchNorm) for part in parts):
        return None
    spread = any(type(each) not in PLAIN and hasattr(each, "placements") for each in parameters_of(inside))
    return None if spread else inside


def wrap_record(model: Model, module: nn.Module, place: Place | None) -> WrapRecord:
    """Return how a model is wrapped."""
    wrapper = next(iter(wrappers_in(module)), module)
    ddp = wrapper if isinstance(wrapper, DistributedDataParallel) else None
    parts = list(modules_of(module))
    synced = sum(isinstance(part, nn.SyncBatchNorm) for part in parts)
    norms = sum(isinstance(part, _BatchNorm) for part in parts)
    learning = {name: each for name, ref in model.parameters.items() if (each := ref()) is not None}
    learning = {name: each for name, each in learning.items() if each.requires_grad}
    return WrapRecord(
        model=model.name,
        wrapper=wrapping_of(wrapper),
        num_parameters=len(learning),
        ignored=tuple(_ignored(ddp, learning)),
        find_unused_parameters=None if ddp is None else bool(ddp.find_unused_parameters),
        static_graph=None if ddp is None else bool(ddp.static_graph),
        broadcast_buffers=None if ddp is None else bool(ddp.broadcast_buffers),
        num_batch_norms=norms - synced,
        num_synced_batch_norms=synced,
        num_shards=max([1, *map(_num_shards, learning.values())]),
        place=place,
    )


def _ignored(ddp: DistributedDataParallel | None, learning: dict[str, nn.Parameter]) -> Iterator[str]:
    if ddp is not None:
        names = ddp.parameters_to_ignore
        told = {id(each) for name, each in ddp.module.named_parameters() if name in names}
        yield from (name for name, each in learning.items() if id(each) in told)


def _num_shards(parameter: Any) -> int:
    return int(parameter.device_mesh.size()) if is_shard(parameter) else 1


class Wrappers:
    """The DDP modules of this process that are known, and which module each has inside.

    Their process groups are held until the watch is closed. The last to hold one may otherwise be a DDP's reducer,
    which ends the group's threads without letting go of Python's lock, while one of them still waits for that to drop
    its newest exchange: the process then stands still. Dropped from Python, a group lets go of the lock first.

    Args:
        namespace: The user's names, some of which may stand for models that were wrapped before the run began.
    """

    def __init__(self, namespace: Mapping[str, Any]) -> None:
        values = [value for value in tuple(namespace.values()) if is_genuine(value)]
        found = [value for value in values if isinstance(value, DistributedDataParallel)]
        self._known: list[weakref.ref[nn.Module]] = [weakref.ref(each) for each in found]
        self._groups: list[Any] = []

    def hold_group(self, wrapper: DistributedDataParallel) -> None:
        """Hold the process group of a wrapped module that is called."""
        if all(wrapper.process_group is not each for each in self._groups):
            self._groups.append(wrapper.process_group)

    def let_go(self) -> None:
        """Hold no process group any more."""
        self._groups.clear()

    def meet(self, module: nn.Module) -> None:
        """Remember a wrapped module."""
        if isinstance(module, DistributedDataParallel) and all(ref() is not module for ref in self._known):
            self._known = [ref for ref in self._known if ref() is not None]
            self._known.append(weakref.ref(module))

    def around(self, module: nn.Module) -> nn.Module | None:
        """Return the DDP module whose inside a module is; None where there is none."""
        for ref in self._known:
            wrapper = ref()
            if wrapper is not None and vars(wrapper).get("_modules", {}).get("module") is module:
                return wrapper
        return None


def without_gradient(model: Model) -> list[str]:
    """Return the names of a model's parameters that require a gradient and have none."""
    held = {name: each for name, ref in model.parameters.items() if (each := ref()) is not None}
    return [name for name, each in held.items() if each.requires_grad and each.grad is None]


def local_part(tensor: torch.Tensor) -> torch.Tensor:
    """Return what this rank holds of a tensor, without asking another rank for anything."""
    if type(tensor) not in PLAIN and hasattr(tensor, "to_local"):
        local: torch.Tensor = getattr(tensor.detach(), "to_local")()  # noqa: B009 - no other tensor has it
        return local
    return tensor.detach()
