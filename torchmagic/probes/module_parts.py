"""This file is the parts of a module: what it is made of, without calling a method that its class may have for itself.

A class can have a ``parameters``, a ``__hash__`` or a ``__getattr__`` of its own, which returns or raises what it
likes, or is dear: torch's tables are read instead. Each part and each tensor comes once, in torch's order.
"""

from collections.abc import Iterator
from typing import Any

import torch
from torch import nn

from torchmagic.tensors.genuine import is_genuine


def named_modules_of(module: nn.Module) -> Iterator[tuple[str, nn.Module]]:
    """Yield a module and all modules inside it, by their paths."""
    seen = set[int]()
    todo: list[tuple[str, nn.Module]] = [("", module)]
    while todo:
        path, part = todo.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        yield path, part
        inside = [(_join(path, name), each) for name, each in part._modules.items() if each is not None]
        todo += [each for each in reversed(inside) if is_genuine(each[1])]


def modules_of(module: nn.Module) -> Iterator[nn.Module]:
    """Yield a module and all modules inside it."""
    return (part for _, part in named_modules_of(module))


def named_parameters_of(module: nn.Module) -> Iterator[tuple[str, nn.Parameter]]:
    """Yield the parameters of a module and of all inside it, by their paths."""
    return _named(module, "_parameters")


def parameters_of(module: nn.Module) -> Iterator[nn.Parameter]:
    """Yield the parameters of a module and of all inside it."""
    return (each for _, each in named_parameters_of(module))


def own_parameters_of(module: nn.Module) -> list[nn.Parameter]:
    """Return the parameters of a module itself."""
    return list({id(each): each for each in module._parameters.values() if each is not None}.values())


def named_buffers_of(module: nn.Module) -> Iterator[tuple[str, torch.Tensor]]:
    """Yield the buffers of a module and of all inside it, by their paths."""
    return _named(module, "_buffers")


def buffers_of(module: nn.Module) -> Iterator[torch.Tensor]:
    """Yield the buffers of a module and of all inside it."""
    return (each for _, each in named_buffers_of(module))


def is_training(module: nn.Module) -> bool:
    """Whether a module is in training mode; TorchScript that was frozen has no mode any more."""
    return bool(getattr(module, "training", False))


def uncompiled(module: nn.Module) -> nn.Module:
    """Return the module that ``torch.compile`` was given, which the one that it made holds; any other as it is."""
    inside = [each for name, each in module._modules.items() if name == "_orig_mod" and is_genuine(each)]
    return inside[0] if inside and inside[0] is not None else module


def is_compiled(module: nn.Module) -> bool:
    """Whether a module as a whole runs as compiled code."""
    return uncompiled(module) is not module or module._compiled_call_impl is not None


def _named(module: nn.Module, table: str) -> Iterator[tuple[str, Any]]:
    seen = set[int]()
    for path, part in named_modules_of(module):
        for name, value in list(getattr(part, table).items()):
            if value is not None and id(value) not in seen:
                seen.add(id(value))
                yield _join(path, name), value


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
