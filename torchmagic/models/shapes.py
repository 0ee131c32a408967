"""This file is how what goes into a module and comes out of it is told: shapes, with names where it has some."""

from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

_LONGEST = 72
_MOST_PARTS = 4


def shapes_of(value: Any) -> str:
    """Tell a tensor, or whatever holds tensors, by its shapes.

    Example:
        >>> shapes_of((torch.ones(3), None)), shapes_of({"logits": torch.ones(5), "loss": torch.tensor(0.5)})
        ('3', 'logits 5, loss scalar')
    """
    told = ", ".join(_parts(value))
    return told if len(told) <= _LONGEST else f"{told[: _LONGEST - 1]}…"


def arguments_of(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> str:
    """Tell what a module was called with."""
    return ", ".join(filter(None, (*map(shapes_of, args), shapes_of(dict(kwargs)))))


def tensors_in(value: Any) -> list[torch.Tensor]:
    """Return the tensors in nested containers and in objects of plain attributes."""
    return [each for each in tree_leaves(_opened(value)) if isinstance(each, torch.Tensor)]


def bytes_of(tensors: list[torch.Tensor]) -> int:
    """Return the bytes of tensors' elements; of sparse and nested ones those of the values that they store."""
    return sum(stored.numel() * stored.element_size() for stored in map(_stored, tensors))


def _stored(tensor: torch.Tensor) -> torch.Tensor:
    if tensor.layout is torch.sparse_coo:
        return tensor._values()  # noqa: SLF001 - values() refuses uncoalesced ones, and coalescing would copy
    return tensor if tensor.layout is torch.strided and not tensor.is_nested else tensor.values()


def _opened(value: Any) -> Any:
    if isinstance(value, Mapping):
        return [_opened(each) for each in value.values()]
    if isinstance(value, list | tuple):
        return [_opened(each) for each in value]
    return value


def _parts(value: Any) -> Iterator[str]:
    if isinstance(value, torch.Tensor):
        yield _shape(value)
    elif isinstance(value, Mapping):
        for name, each in value.items():
            told = shapes_of(each)
            if told:
                yield f"{name} {told}"
    elif isinstance(value, list | tuple):
        parts = [told for told in map(shapes_of, value) if told]
        yield from parts[:_MOST_PARTS]
        if len(parts) > _MOST_PARTS:
            yield f"{len(parts) - _MOST_PARTS} more"
    elif value is not None and hasattr(value, "__dict__") and not isinstance(value, type):
        yield type(value).__name__


def _shape(tensor: torch.Tensor) -> str:
    try:
        return "×".join(map(str, tensor.shape)) or "scalar"
    except RuntimeError:  # a nested tensor of the old kind has no single size
        return "nested"
