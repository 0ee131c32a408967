"""This file lets TorchScript see torch's own functions where wrappers stand in their place."""

import inspect
from typing import Any

from torch.jit import _builtins


def stand_in(wrapper: Any, original: Any) -> None:
    """Let whoever compiles ``wrapper`` compile ``original``: an operator is known by its identity, Python by source."""
    known = _builtins._find_builtin(original)  # type: ignore[no-untyped-call] # torch
    if known is not None:
        _builtins._get_builtin_table()[id(wrapper)] = known  # type: ignore[no-untyped-call] # torch
    elif inspect.isfunction(original) and inspect.isfunction(wrapper):
        wrapper.__prepare_scriptable__ = lambda: original  # type: ignore[attr-defined] # TorchScript asks for it


def step_down(wrapper: Any) -> None:
    """Forget a wrapper that no longer stands anywhere."""
    _builtins._get_builtin_table().pop(id(wrapper), None)  # type: ignore[no-untyped-call] # torch
    if inspect.isfunction(wrapper):
        vars(wrapper).pop("__prepare_scriptable__", None)
