"""This file is what functions keep to themselves: free variables, defaults, and arguments that are given beforehand."""

import functools
import inspect
from collections import deque
from collections.abc import Iterable, Iterator
from types import FunctionType
from typing import Any

from torch import nn

from torchmagic.probes.variables import held_in
from torchmagic.tensors.genuine import is_genuine

# How many functions deep is looked, as where one is decorated, and how many of a list.
DEEPEST, MOST_FUNCTIONS = 4, 64
_FUNCTIONS = (FunctionType, functools.partial)
_CONTAINERS = (list, tuple, deque, dict)


def captured(value: Any, *, depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Yield the name and value of what a function keeps, or each function of a list; nothing for anything else."""
    if depth >= DEEPEST or not is_genuine(value):
        return
    if isinstance(value, _CONTAINERS):
        functions = [each for each in held_in(value, slice(MOST_FUNCTIONS)) if _is_function(each)]
        kept: Iterable[tuple[str, Any]] = ((each.__class__.__name__, each) for each in functions)
    elif isinstance(value, functools.partial):
        kept = _given(value)
    elif isinstance(value, FunctionType):
        kept = _kept(value)
    else:
        return
    for name, each in kept:
        if _is_function(each):
            yield from captured(each, depth=depth + 1)
        else:
            yield name, each


def taken_by_forward(kind: type[nn.Module]) -> Iterator[tuple[str, Any]]:
    """Yield the name and value of what a class's ``forward`` takes from the code around it: no ``self`` holds it.

    Of global names only containers are: what else has a name is known by it.
    """
    forward = inspect.getattr_static(kind, "forward", None)
    if not isinstance(forward, FunctionType):
        return
    yield from captured(forward)
    around = forward.__globals__
    for name in forward.__code__.co_names:
        value = around.get(name)
        if is_genuine(value) and isinstance(value, _CONTAINERS):
            yield name, value


def _is_function(value: Any) -> bool:
    return is_genuine(value) and isinstance(value, _FUNCTIONS)


def _given(value: "functools.partial[Any]") -> Iterator[tuple[str, Any]]:
    code = getattr(value.func, "__code__", None)
    names = code.co_varnames[: code.co_argcount] if code is not None else ()
    yield "func", value.func
    for number, each in enumerate(value.args):
        yield (names[number] if number < len(names) else "args"), each
    yield from value.keywords.items()


def _kept(value: FunctionType) -> Iterator[tuple[str, Any]]:
    code = value.__code__
    for name, cell in zip(code.co_freevars, value.__closure__ or (), strict=False):
        try:
            yield name, cell.cell_contents
        except ValueError:  # empty as yet
            continue
    defaults = value.__defaults__ or ()
    yield from zip(code.co_varnames[code.co_argcount - len(defaults) : code.co_argcount], defaults, strict=False)
    yield from (value.__kwdefaults__ or {}).items()
