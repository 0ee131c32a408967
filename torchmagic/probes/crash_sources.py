"""This file finds the source code that ran: files, functions and methods of the user's."""

from collections.abc import Iterable, Iterator, Mapping
from types import CodeType, FunctionType
from typing import Any

from torch import nn

from torchmagic.probes.cast import Cast
from torchmagic.probes.crash_frames import Entry
from torchmagic.probes.module_parts import named_modules_of
from torchmagic.probes.sites import is_torchs, is_users, is_users_file

MOST_METHODS = 64


def scopes(theirs: Iterable[Entry], cast: Cast, namespace: Mapping[str, Any]) -> dict[str, list[tuple[int, str]]]:
    """Return by file the functions that may have run: those of the frames, of the models, and the user's functions."""
    found: dict[str, list[tuple[int, str]]] = {}
    codes = [entry.frame.f_code for entry in theirs if is_users(entry.frame)]
    for module in modules_of(cast):
        codes += _methods(type(module))
    codes += [function.__code__ for _, function in cast.names.functions()]
    codes += [value.__code__ for value in list(namespace.values()) if type(value) is FunctionType]
    for code in codes:
        if is_users_file(code.co_filename):
            scope = (code.co_firstlineno, code.co_name)
            known = found.setdefault(code.co_filename, [])
            if scope not in known:
                known.append(scope)
    return found


def modules_of(cast: Cast) -> list[nn.Module]:
    """Return the modules of all models that took part."""
    roots = [root for model in cast.models if (root := model.ref()) is not None]
    return [module for root in roots for _, module in named_modules_of(root)]


def inplace_attributes(cast: Cast) -> frozenset[str]:
    """Return the attributes under which modules are held that change their input."""
    held = (
        (name, child) for module in modules_of(cast) for name, child in module._modules.items() if child is not None
    )
    return frozenset(name for name, child in held if vars(child).get("inplace") is True)


def attribute_classes(cast: Cast) -> dict[str, str]:
    """Return the class of the module under each attribute of a model."""
    held = (item for module in modules_of(cast) for item in module._modules.items())
    return {name: type(child).__name__ for name, child in held if child is not None}


def _methods(kind: type) -> Iterator[CodeType]:
    """Yield the code of a class's methods that are written by the user; what a decorator wraps is looked into."""
    for base in kind.__mro__:
        if is_torchs(base) or base is object:
            continue
        for value in list(vars(base).values())[:MOST_METHODS]:
            inner = getattr(value, "__wrapped__", value) if isinstance(value, FunctionType) else value
            if isinstance(inner, FunctionType):
                yield inner.__code__
