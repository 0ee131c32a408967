"""This file is the joining of a callback with the class of the package that calls it, once that package is there."""

import sys
from importlib import import_module
from typing import Any

# One class for each pair, so that two callbacks of a kind have one type.
_joined: dict[tuple[type, type], type] = {}


def joined(own: type, other: type) -> type:
    """Return a class that is both, in which ``own`` goes first."""
    if issubclass(own, other):
        return own
    if (own, other) not in _joined:
        _joined[own, other] = type(own.__name__, (own, other), {"__doc__": own.__doc__})
    return _joined[own, other]


def needed(name: str, *modules: str) -> Any:
    """Return a class of the first of some modules that is loaded, else of the first that can be.

    Args:
        name: The class.
        *modules: Packages that have it.

    Raises:
        ImportError: If none of them is installed; one line.
    """
    for module in modules:
        if loaded := sys.modules.get(module):
            return getattr(loaded, name)
    for module in modules:
        try:
            return getattr(import_module(module), name)
        except ModuleNotFoundError as error:
            if error.name not in {module, module.partition(".")[0]}:
                raise
    package = modules[0].partition(".")[0]
    raise ImportError(f"this callback needs the package {package}: pip install {package}", name=package)
