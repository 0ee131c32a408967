"""This file is the memory of a model by what it is for and by component, each tensor counted once."""

from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from torch import nn

from torchmagic.models.parameters import models_in
from torchmagic.models.tree import is_lazy, own_tensors
from torchmagic.records.modelinfo import Held
from torchmagic.tensors.layout import metadata
from torchmagic.tensors.reduce import UNREADABLE_ERRORS

MB = 2**20
# What the model itself holds beside its children.
ITSELF = "(itself)"
PARAMETERS, GRADIENTS, BUFFERS = "parameters", "gradients", "buffers"


class _Taken(NamedTuple):
    component: str
    kind: str
    device: str
    num_bytes: int


def profile_memory_usage(model: Any) -> dict[str, Any]:
    """Tell what a model takes, in MB (2**20 bytes): what it holds now, without activations and optimizer.

    Each tensor counts once, at the first component that has it, so that the components add up to the total. Tensors on
    the meta device, and parameters without a shape yet, take nothing.

    Args:
        model: A module, a wrapper around one, or an object that holds some, such as a pipeline.

    Returns:
        ``total``; its parts ``parameters`` (packed weights of quantised layers too), ``gradients`` and ``buffers``;
        ``components``, by direct child (of a pipeline: by model), and ``(itself)`` for what the model itself holds;
        ``devices``, by device. Each component also stands beside ``total`` under its own name, unless it has the name
        of one of these.

    Raises:
        TypeError: If there is no model; one line.

    Example:
        >>> usage = profile_memory_usage(nn.Sequential(nn.Linear(1024, 1024, bias=False)))
        >>> usage["total"], usage["components"]
        (4.0, {'0': 4.0})
    """
    kinds: Counter[str] = Counter({PARAMETERS: 0, GRADIENTS: 0, BUFFERS: 0})
    components: Counter[str] = Counter()
    devices: Counter[str] = Counter()
    for taken in _taken(model):
        kinds[taken.kind] += taken.num_bytes
        components[taken.component] += taken.num_bytes
        devices[taken.device] += taken.num_bytes
    parts = {name: num / MB for name, num in components.items()}
    return {
        **parts,
        "total": kinds.total() / MB,
        **{kind: num / MB for kind, num in kinds.items()},
        "components": parts,
        "devices": {name: num / MB for name, num in devices.items()},
    }


def _taken(model: Any) -> Iterator[_Taken]:
    seen: set[object] = set()
    for component, kind, tensor in _held(model):
        if is_lazy(tensor) or tensor.is_meta or (key := _memory(tensor)) in seen:
            continue
        seen.add(key)
        yield _Taken(component, kind, str(tensor.device), _num_bytes(tensor))


def _held(model: Any) -> Iterator[tuple[str, str, torch.Tensor]]:
    for component, module in _components(model):
        for held, _, tensor in own_tensors(module):
            yield component, BUFFERS if held is Held.BUFFER else PARAMETERS, tensor
            gradient = tensor.grad if tensor.is_leaf and not is_lazy(tensor) else None
            if gradient is not None:
                yield component, GRADIENTS, gradient


def _components(model: Any) -> Iterator[tuple[str, nn.Module]]:
    """Yield every module with the component that it belongs to; a shared one at each that has it."""
    for name, top in models_in(model).items():
        if name:
            yield from ((name, each) for each in top.modules())
            continue
        yield ITSELF, top
        for child, part in top.named_children():
            yield from ((child, each) for each in part.modules() if each is not top)


def _memory(tensor: torch.Tensor) -> object:
    """Return what tells a tensor's memory from others: two tensors over the very same bytes take them once."""
    try:
        if tensor.layout is torch.strided and tensor.numel():
            return tensor.untyped_storage().data_ptr(), tensor.storage_offset(), tuple(tensor.shape), tensor.dtype
    except UNREADABLE_ERRORS:
        pass
    return id(tensor)


def _num_bytes(tensor: torch.Tensor) -> int:
    facts = metadata(tensor)
    if facts.layout != "strided" or facts.storage_bytes is None:
        return facts.num_bytes
    return min(facts.num_bytes, facts.storage_bytes)  # an expanded tensor stores less than it shows
