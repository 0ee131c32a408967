"""This file is the code of hooks: which functions of the user's a module runs before and after its forward."""

import functools
from collections.abc import Iterable, Iterator, Sequence
from types import CodeType
from typing import Any

from torch import nn

from torchmagic.probes.module_parts import named_parameters_of


def hooks_after(module: nn.Module) -> list[CodeType]:
    """Return the code of what is hooked to a module's forward, and may give another result."""
    return list(_codes(module._forward_hooks.values()))


def hooks_before(module: nn.Module) -> list[CodeType]:
    """Return the code of what is hooked before a module's forward, and may change what it is given."""
    return list(_codes(module._forward_pre_hooks.values()))


def all_hooks_of(module: nn.Module) -> list[CodeType]:
    """Return the code of all that a module's call runs beside its forward."""
    return [*hooks_after(module), *hooks_before(module)]


def hooks_around(path: str, parts: Sequence[tuple[str, nn.Module]]) -> list[CodeType]:
    """Return the code of what may change the result of a module: hooked to its forward, that of a part or an owner.

    In a ``Sequential`` also what is hooked to those that come after it there.

    Args:
        path: Path of the module.
        parts: All modules, each with its path.
    """
    related = [part for each, part in parts if f"{each}.".startswith(f"{path}.") or path.startswith(f"{each}.")]
    found = [code for part in related for code in hooks_after(part)]
    for each, part in parts:
        if isinstance(part, nn.Sequential) and path.startswith(f"{each}."):
            own = path.removeprefix(f"{each}.").partition(".")[0]
            names = list(part._modules)
            following = names[names.index(own) + 1 :] if own in names else []
            later = (module for name in following if (module := part._modules[name]) is not None)
            found += [code for module in later for code in all_hooks_of(module)]
    return found


def hooks_elsewhere(path: str, parts: Sequence[tuple[str, nn.Module]], waiting: Iterable[str]) -> list[CodeType]:
    """Return the code of hooks to modules beside another one: its result may come to them, and end there.

    The result of one whose own parameters have a gradient does not end there, whatever its hook keeps.

    Args:
        path: Path of the module.
        parts: All modules, each with its path.
        waiting: Names of parameters that never had a gradient.
    """
    silent = set(waiting)
    found = []
    for each, part in parts:
        if f"{each}.".startswith(f"{path}.") or path.startswith(f"{each}."):
            continue
        found += hooks_before(part)
        names = [f"{each}.{name}" for name in _parameters(part)]
        if all(name in silent for name in names):
            found += hooks_after(part)
    return found


def _parameters(module: nn.Module) -> Iterator[str]:
    yield from (name for name, each in named_parameters_of(module) if each.requires_grad)


def _codes(hooks: Iterable[Any]) -> Iterator[CodeType]:
    for hook in hooks:
        function = hook.func if isinstance(hook, functools.partial) else hook
        code = getattr(function, "__code__", None) or getattr(type(function).__call__, "__code__", None)
        if isinstance(code, CodeType):
            yield code
