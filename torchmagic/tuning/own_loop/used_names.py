"""This file is the names that code may use: its own, and those of the functions and classes that it names."""

import functools
from collections.abc import Iterator, Mapping
from types import CodeType, FunctionType, MethodType
from typing import Any

from torch import nn

from torchmagic.tuning.own_loop.reachable import closed_over

# What IPython keeps under names of its own is no part of a training.
_SHELLS = {"In", "Out", "get_ipython", "exit", "quit", "open"}


def used_names(code: CodeType, namespace: Mapping[str, Any]) -> set[str]:
    """Return the names of a namespace that code may use, by itself or in functions and classes of that namespace.

    Args:
        code: Of a cell.
        namespace: Where it runs.
    """
    found, seen, waiting = set[str](), set[CodeType](), [code]
    while waiting:
        each = waiting.pop()
        if each in seen:
            continue
        seen.add(each)
        waiting += [const for const in each.co_consts if isinstance(const, CodeType)]
        for name in each.co_names:
            if name in namespace and name not in found and not _is_of_shell(name):
                found.add(name)
                waiting += _codes(namespace[name], namespace)
    return found


def _is_of_shell(name: str) -> bool:
    return name in _SHELLS or name.startswith("_")


def _codes(value: Any, namespace: Mapping[str, Any], depth: int = 0) -> Iterator[CodeType]:
    """Yield the code of functions of this namespace that a value may run."""
    if isinstance(value, MethodType):
        value = value.__func__
    if isinstance(value, functools.partial):
        value = value.func
    if isinstance(value, FunctionType):
        if value.__globals__ is namespace:
            yield value.__code__
        for inner in closed_over(value) if depth < 3 else ():  # noqa: PLR2004 - decorators on decorators
            yield from _codes(inner, namespace, depth + 1)
        return
    kinds = {type(each) for each in value.modules()} if isinstance(value, nn.Module) else {type(value)}
    for kind in kinds if not isinstance(value, type) else {value}:
        for base in kind.__mro__:
            if base.__module__ == namespace.get("__name__"):
                yield from (each.__code__ for each in vars(base).values() if isinstance(each, FunctionType))
