"""This file is parts of a model that stay as they are, but have another forward for the time of one call."""

import contextlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from torch import nn


@contextlib.contextmanager
def other_forwards(forwards: Mapping[nn.Module, Callable[..., Any]]) -> Iterator[None]:
    """Let modules run by other forwards; afterwards, however that ends, each has its own again.

    Args:
        forwards: What each module runs by.
    """
    before = [(module, vars(module).get("forward")) for module in forwards]
    try:
        for module, forward in forwards.items():
            vars(module)["forward"] = forward
        yield
    finally:
        for module, own in before:
            vars(module).pop("forward", None)
            if own is not None:
                vars(module)["forward"] = own
