"""This file finds what in the user's namespace has to do with a tensor: names, shared memory, holders."""

import gc
import types
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import torch

from torchmagic.records.tensor_relations import Relations
from torchmagic.tensors.layout import memory_block

MOST_NAMES, MOST_ITEMS, MOST_HOLDERS = 8, 1000, 8


def named_tensors(names: Mapping[str, Any]) -> Iterator[tuple[str, torch.Tensor]]:
    """Yield the tensors that a namespace reaches: its own, modules' parameters and buffers, one level of containers.

    Args:
        names: The user's variables; those that begin with an underscore are IPython's and left out.
    """
    for name, value in list(names.items()):
        if name.startswith("_"):
            continue
        if isinstance(value, torch.Tensor):
            yield name, value
        elif isinstance(value, np.ndarray):
            if value.flags.writeable and value.dtype.kind in "biufc" and all(each >= 0 for each in value.strides):
                yield from _of_array(name, value)
        elif isinstance(value, torch.nn.Module):
            yield from ((f"{name}.{path}", each) for path, each in value.named_parameters())
            yield from ((f"{name}.{path}", each) for path, each in value.named_buffers())
        elif type(value) in (list, tuple, dict):
            yield from _items(name, value)


def relations_of(
    tensor: torch.Tensor, known: list[tuple[str, torch.Tensor]], *, expression: str = "", search: bool = False
) -> Relations:
    """Return names, shared memory and holders of a tensor.

    Args:
        tensor: Any tensor.
        known: What ``named_tensors`` yields.
        expression: What the user typed; left out of the names.
        search: Whether to ask the garbage collector who else refers to the tensor: it looks at every object.
    """
    block = memory_block(tensor)
    same, shared = [], []
    for name, each in known:
        if each is tensor:
            same.append(name)
        elif block is not None and memory_block(each) == block:
            shared.append(name)
    base = getattr(tensor, "_base", None)
    return Relations(
        names=tuple(name for name in same if name != expression)[:MOST_NAMES],
        shared=tuple(shared[:MOST_NAMES]),
        base="" if base is None else _called(base, known),
        holders=tuple(_holders(tensor, {id(pair) for pair in known})) if search else (),
    )


def _of_array(name: str, value: np.ndarray[Any, Any]) -> Iterator[tuple[str, torch.Tensor]]:
    try:
        yield name, torch.from_numpy(value)
    except (TypeError, ValueError):  # a dtype or strides that torch does not know
        return


def _items(name: str, value: Any) -> Iterator[tuple[str, torch.Tensor]]:
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    for count, (key, each) in enumerate(pairs):
        if count == MOST_ITEMS:
            return
        if isinstance(each, torch.Tensor):
            yield f"{name}[{key!r}]", each


def _called(base: torch.Tensor, known: list[tuple[str, torch.Tensor]]) -> str:
    for name, each in known:
        if each is base:
            return name
    return f"an unnamed {type(base).__name__} {list(base.shape)}"


def _holders(tensor: torch.Tensor, ours: set[int]) -> Iterator[str]:
    count = 0
    for holder in gc.get_referrers(tensor):
        told = "" if id(holder) in ours else _told(holder, tensor)
        if told:
            yield told
            count += 1
        if count == MOST_HOLDERS:
            return


def _told(holder: Any, tensor: torch.Tensor) -> str:
    if isinstance(holder, types.FrameType) or holder is globals():
        return ""  # a running function, often our own
    if isinstance(holder, types.CellType):
        return "a function's closure"
    if type(holder) is dict:
        keys = [key for key, value in list(holder.items()) if value is tensor]
        owner = _owner(holder)
        key = repr(keys[0]) if keys else "a key"
        kind = f"a dict of {len(holder):,}" if owner is None else f"a {type(owner).__name__}"
        return f"{key} of {kind}"
    if type(holder) in (list, tuple, set):
        return f"a {type(holder).__name__} of {len(holder)}"
    own = getattr(holder, "__dict__", {})
    key = next((f"{key!r} of " for key, value in own.items() if value is tensor), "")
    return f"{key}a {type(holder).__name__}"


def _owner(holder: dict[Any, Any]) -> Any:
    """The object whose dictionary it is, or the module that keeps its parameters or buffers in it."""
    around = gc.get_referrers(holder)
    for each in around:
        if isinstance(each, torch.nn.Module) or getattr(each, "__dict__", None) is holder:
            return each
    for each in around:
        if type(each) is dict and any(each.get(key) is holder for key in ("_parameters", "_buffers")):
            return next((owner for owner in gc.get_referrers(each) if getattr(owner, "__dict__", None) is each), None)
    return None
