"""This file is the packages of others: loaded when an exporter needs them, with one clear line where one is missing."""

from importlib import import_module
from typing import Any


def needed(module: str, *, extra: str) -> Any:
    """Return a module of a package that torchmagic does not bring along.

    Args:
        module: Its full name.
        extra: Extra of torchmagic that installs it.

    Raises:
        ValueError: If it is not installed.
    """
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise ValueError(
            f'this export needs the package {package} ({error}): pip install "torchmagic[{extra}]"'
        ) from None
