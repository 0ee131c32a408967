"""This file is a loader of one's own over the same data: loading in this process, drawing from streams of its own."""

import copy
from typing import Any

import torch
from torch.utils.data import DataLoader

from torchmagic.models.loader_batch import in_this_process


def own_loader(loader: DataLoader[Any]) -> DataLoader[Any]:
    """Return a copy of a loader that shares its dataset, and neither its samplers nor their random numbers."""
    made: dict[int, Any] = {}
    mine = in_this_process(loader)
    # Past the loader itself, which refuses to be given another sampler.
    parts = ("generator", "sampler", "batch_sampler")
    vars(mine).update({name: _own(vars(loader)[name], made) for name in parts if name in vars(loader)})
    return mine


def _own(part: Any, made: dict[int, Any]) -> Any:
    """Return a shallow copy of a sampler, of the sampler in it, and of their generators, each once."""
    if id(part) not in made:
        made[id(part)] = part.clone_state() if isinstance(part, torch.Generator) else copy.copy(part)
        held = getattr(part, "__dict__", None)
        if isinstance(held, dict) and part is not None:
            inside = {name: held[name] for name in ("sampler", "generator") if held.get(name) is not None}
            vars(made[id(part)]).update({name: _own(value, made) for name, value in inside.items()})
    return made[id(part)]
