"""This file is the attributes of a module: the trainable tensors that they hold and torch does not know of."""

from collections import deque
from collections.abc import Iterable, Iterator
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import torch
from torch import nn

from torchmagic.probes.captured import captured, taken_by_forward
from torchmagic.probes.module_parts import parameters_of
from torchmagic.probes.variables import held_in
from torchmagic.tensors.genuine import attributes_of, is_genuine

# How deep containers and objects in an attribute are looked into, and how many items of each.
DEEPEST, MOST_ITEMS = 3, 64
_CONTAINERS = (list, tuple, set, frozenset, deque)
_TORCHS_OWN = frozenset(vars(nn.Module()))
_LEFT_ALONE = (
    *(str, bytes, int, float, complex, bool, type(None), type, torch.dtype, torch.device),
    *(FunctionType, MethodType, BuiltinFunctionType, ModuleType),
)


def attributes(module: nn.Module) -> Iterator[tuple[str, Any]]:
    """Yield a module's attributes that torch does not know as its own, and those of the user's classes."""
    for name, value in list(vars(module).items()):
        if name not in _TORCHS_OWN:
            yield name, value
    for kind in type(module).__mro__:
        if kind is nn.Module:
            return
        for name, value in list(vars(kind).items()):
            held = not name.startswith("__") and is_genuine(value)
            if held and isinstance(value, (torch.Tensor, nn.Module, *_CONTAINERS, dict)):
                yield name, value


def held(module: nn.Module) -> Iterator[tuple[str, str, Any]]:
    """Yield what a module holds that torch does not know of, with the names of its attribute and of a variable.

    The variable is that under which a function in the attribute keeps the value, and empty where there is none. What
    its class's ``forward`` takes from the code around it has no attribute.
    """
    for name, value in attributes(module):
        yield name, "", value
        yield from ((name, variable, kept) for variable, kept in captured(value))
    yield from (("", variable, kept) for variable, kept in taken_by_forward(type(module)))


def tensors_of(value: Any, *, depth: int = 0) -> Iterator[tuple[str, torch.Tensor]]:
    """Yield the trainable leaves that a value holds, each with the class of the module that they are in."""
    if not is_genuine(value):
        return
    if isinstance(value, torch.Tensor):
        if value.is_leaf and value.requires_grad:
            yield type(value).__name__, value
    elif isinstance(value, nn.Module):
        yield from ((type(value).__name__, each) for each in parameters_of(value) if each.requires_grad)
    elif depth < DEEPEST and not isinstance(value, _LEFT_ALONE):
        for item in _items(value):
            yield from tensors_of(item, depth=depth + 1)


def _items(value: Any) -> Iterable[Any]:
    """Return what a value holds, by its own type's methods and not by those of a user's class."""
    if isinstance(value, set):
        return list(set.__iter__(value))[:MOST_ITEMS]
    if isinstance(value, frozenset):
        return list(frozenset.__iter__(value))[:MOST_ITEMS]
    if isinstance(value, (*_CONTAINERS, dict)):
        return held_in(value, slice(MOST_ITEMS))
    return list(attributes_of(value).values())[:MOST_ITEMS]
