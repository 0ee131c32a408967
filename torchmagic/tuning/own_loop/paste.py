"""This file is the code to paste: what gives a loop of one's own what a mode was measured with."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import nn

from torchmagic.tuning.modes import OptimizationMode
from torchmagic.tuning.setup import Notes

_MODE = OptimizationMode


def code_for(mode: OptimizationMode, models: Sequence[str], optimizer: str, notes: Notes, num_threads: int) -> str:
    """Return lines to run before the loop.

    Args:
        mode: The mode.
        models: What the models are called.
        optimizer: What the optimizer is called.
        notes: What became of the recipes.
        num_threads: How many threads were tried.
    """
    return "\n".join(_lines(mode, models, optimizer, notes, num_threads))


def _lines(
    mode: OptimizationMode, models: Sequence[str], optimizer: str, notes: Notes, num_threads: int
) -> Iterator[str]:
    if mode is _MODE.THREADS:
        yield from ("import torch", "", f"torch.set_num_threads({num_threads})")
    elif mode is _MODE.COMPILATION and not any("TorchScript" in each for each in notes.remarks):
        yield from ("import torch", "", *(f"{model} = torch.compile({model})" for model in models))
    elif mode not in (_MODE.FUSED_OPTIMIZER, _MODE.NONE):
        yield from ("import torchmagic", "")
        yield from (f'{model} = torchmagic.optimize_model({model}, "{mode.value}")' for model in models)
    if _MODE.FUSED_OPTIMIZER in notes.in_force:
        yield f"for group in {optimizer}.param_groups:"
        yield '    group.update(fused=True, **({"foreach": False} if "foreach" in group else {}))'


def called(value: Any, names: Mapping[str, Any], otherwise: str) -> str:
    """Return what a value is called: by a name, or as an attribute of what a name means.

    Args:
        value: A model or an optimizer.
        names: What is known where the loop stands.
        otherwise: What to call it where nothing means it.
    """
    known = [(name, each) for name, each in names.items() if not name.startswith("_")]
    found = next((name for name, each in known if each is value), "")
    return found or next(_as_attributes(value, known), otherwise)


def _as_attributes(value: Any, known: Iterable[tuple[str, Any]]) -> Iterator[str]:
    for name, owner in known:
        inside = getattr(owner, "__dict__", None)
        if isinstance(owner, torch.Tensor | type) or not isinstance(inside, dict):
            continue
        parts = {**inside, **(dict(owner.named_children()) if isinstance(owner, nn.Module) else {})}
        yield from (f"{name}.{attribute}" for attribute, each in parts.items() if each is value)
