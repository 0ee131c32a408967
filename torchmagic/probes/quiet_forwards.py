"""This file is the quiet forwards: models that can run again on a copy of their input without anybody noticing."""

import torch
from torch import nn
from torch.nn.modules.batchnorm import _BatchNorm

from torchmagic.probes.changed_names import changed_names
from torchmagic.probes.loop_members import loop_members
from torchmagic.probes.module_parts import is_compiled, modules_of
from torchmagic.probes.origin_purity import (
    body_of,
    function_of,
    is_pure,
    names_inside,
    value_of,
)

# Of a model with more parts the source is not looked at.
MOST_PARTS = 512
OF_TORCH = ("torch.", "torchvision.")


def runs_quietly(module: nn.Module) -> bool:
    """Whether nobody notices that a model runs again, and evaluation mode keeps its rows apart where it can."""
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        return False
    parts = list(modules_of(module))
    if len(parts) > MOST_PARTS or any(map(is_compiled, parts)):  # a batch of another size would be compiled for
        return False
    # Without running statistics a batch norm takes those of the batch in evaluation too.
    if any(isinstance(part, _BatchNorm) and part.running_mean is None for part in parts):
        return False
    by_class = {type(part): part for part in parts}
    return all(_forward_is_quiet(part) for part in by_class.values())


def _forward_is_quiet(module: nn.Module) -> bool:
    """Whether a forward changes nothing but names of its own and the tensors that it is given."""
    function = function_of(module.forward)
    if function is None:
        return False
    if str(function.__module__).startswith(OF_TORCH):
        return True
    body, own = body_of(function.__code__), set(function.__code__.co_varnames)
    itself = function.__code__.co_varnames[0]
    names = {**names_inside(function), itself: module}
    names.update(loop_members(body, names, value_of))
    return bool(body) and all(
        changed_names(statement) <= own - {itself} and is_pure(statement, names, depth=1) for statement in body
    )
