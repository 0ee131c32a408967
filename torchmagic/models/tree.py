"""This file is the tree of a model as it is registered: modules, and the tensors that they hold, each counted once."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn

from torchmagic.records.modelinfo import Held, HeldTensor, ModulePart
from torchmagic.tensors.reduce import UNREADABLE_ERRORS

_MOST_SETTINGS = 120  # letters of what a module says of itself


@dataclass(slots=True)
class Tree:
    """A model taken apart; it holds the modules and tensors, and lives only while they are looked at.

    Args:
        places: Path and module, depth first in the order of registration, the same module at every place it has.
        tensors: Tensors by the first name that each has.
        names: All names of each tensor, by its id.
        held: How each is held, by its id.
        own: What each module itself holds, by the module's id.
        first_path: First path of each module, by its id.
    """

    places: list[tuple[str, nn.Module]]
    tensors: dict[str, torch.Tensor] = field(default_factory=dict)
    names: dict[int, list[str]] = field(default_factory=dict)
    held: dict[int, Held] = field(default_factory=dict)
    own: dict[int, list[torch.Tensor]] = field(default_factory=dict)
    first_path: dict[int, str] = field(default_factory=dict)


def tree_of(model: nn.Module) -> Tree:
    """Take a model apart; nothing is computed, so parametrizations do not run."""
    tree = Tree(list(_walked(model, "", frozenset())))
    for path, module in tree.places:
        tree.first_path.setdefault(id(module), path)
        if id(module) in tree.own:
            for name, tensor in zip(_own_names(module), tree.own[id(module)], strict=False):
                tree.names[id(tensor)].append(f"{path}.{name}" if path else name)
            continue
        tree.own[id(module)] = []
        for held, name, tensor in own_tensors(module):
            tree.own[id(module)].append(tensor)
            full = f"{path}.{name}" if path else name
            if id(tensor) not in tree.names:
                tree.tensors[full] = tensor
                tree.held[id(tensor)] = held
            tree.names.setdefault(id(tensor), []).append(full)
    return tree


def own_tensors(module: nn.Module) -> Iterator[tuple[Held, str, torch.Tensor]]:
    """Yield the tensors that a module itself holds."""
    for name, parameter in module._parameters.items():  # noqa: SLF001 - parameters() leaves out what is held twice
        if parameter is not None:
            yield Held.PARAMETER, name, parameter
    for name, buffer in module._buffers.items():  # noqa: SLF001
        if isinstance(buffer, torch.Tensor):
            yield Held.BUFFER, name, buffer
    # Quantised layers keep their weights in an object, which some of them wrap in one more module.
    is_wrapper = type(module).__name__.endswith("PackedParams") or isinstance(module, torch.jit.ScriptModule)
    if is_wrapper or not callable(getattr(module, "_weight_bias", None)):
        return
    for name, packed in zip(("weight", "bias"), _packed(module), strict=False):
        if isinstance(packed, torch.Tensor):
            yield Held.PACKED, name, packed


def module_parts(tree: Tree) -> tuple[ModulePart, ...]:
    """Tell each place of the tree by its facts at rest."""
    return tuple(_part(tree, path, module) for path, module in tree.places)


def held_tensors(tree: Tree) -> tuple[HeldTensor, ...]:
    """Tell each tensor once."""
    return tuple(_told(tree, name, tensor) for name, tensor in tree.tensors.items())


def is_lazy(tensor: torch.Tensor) -> bool:
    """Whether a tensor has no shape yet."""
    return bool(torch.nn.parameter.is_lazy(tensor))


def size_of(tensor: torch.Tensor) -> tuple[int, int]:
    """Return elements and bytes of a tensor; nothing for one without a shape yet."""
    if is_lazy(tensor):
        return 0, 0
    try:
        return tensor.numel(), tensor.numel() * tensor.element_size()
    except UNREADABLE_ERRORS:
        return 0, 0


def _walked(module: nn.Module, path: str, above: frozenset[int]) -> Iterator[tuple[str, nn.Module]]:
    yield path, module
    if id(module) in above:  # a module that holds itself
        return
    for name, child in module._modules.items():  # noqa: SLF001 - named_modules() shows a shared module once
        if child is not None:
            yield from _walked(child, f"{path}.{name}" if path else name, above | {id(module)})


def _own_names(module: nn.Module) -> list[str]:
    return [name for _, name, _ in own_tensors(module)]


def _packed(module: Any) -> tuple[Any, ...]:
    try:
        return tuple(module._weight_bias())  # noqa: SLF001 - what torch's quantised layers call it
    except UNREADABLE_ERRORS:
        return ()


def _told(tree: Tree, name: str, tensor: torch.Tensor) -> HeldTensor:
    num_elements, num_bytes = size_of(tensor)
    lazy = is_lazy(tensor)
    return HeldTensor(
        name=name,
        held=tree.held[id(tensor)],
        shape=() if lazy else tuple(tensor.shape),
        dtype=str(tensor.dtype).removeprefix("torch."),
        device=str(tensor.device),
        num_elements=num_elements,
        num_bytes=num_bytes,
        trainable=tensor.requires_grad,
        is_lazy=lazy,
        also=tuple(tree.names[id(tensor)][1:]),
    )


def _part(tree: Tree, path: str, module: nn.Module) -> ModulePart:
    below = {id(tensor): tensor for _, each in _walked(module, "", frozenset()) for tensor in tree.own[id(each)]}
    own = tree.own[id(module)]
    first = tree.first_path[id(module)]
    parameters = [tensor for key, tensor in below.items() if tree.held.get(key) is Held.PARAMETER]
    buffers = [tensor for key, tensor in below.items() if tree.held.get(key) is Held.BUFFER]
    return ModulePart(
        path=path,
        class_name=_class_name(module),
        settings=_settings(module),
        shared_with=_place(first) if first != path else "",
        num_parameters=sum(size_of(each)[0] for each in parameters),
        num_trainable=sum(size_of(each)[0] for each in parameters if each.requires_grad),
        num_buffers=sum(size_of(each)[0] for each in buffers),
        num_bytes=sum(size_of(each)[1] for each in below.values()),
        has_own=bool(own),
        training=module.training,
        kinds=tuple(sorted({f"{each.dtype} {each.device} {each.requires_grad}" for each in own})),
    )


def _place(path: str) -> str:
    return path or "the model itself"


def _class_name(module: nn.Module) -> str:
    original = getattr(module, "original_name", None) if isinstance(module, torch.jit.ScriptModule) else None
    return str(original or type(module).__name__)


def _settings(module: nn.Module) -> str:
    try:
        told = " ".join(module.extra_repr().split())
    except Exception:  # noqa: BLE001 - the user's code, asked for a word about itself
        return ""
    return told if len(told) <= _MOST_SETTINGS else f"{told[: _MOST_SETTINGS - 1]}…"
