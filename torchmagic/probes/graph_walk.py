"""This file is the walk: the nodes of the graph above a tensor, the leaves they end at, and what they saved."""

from collections.abc import Container, Iterable, Iterator
from typing import Any, NamedTuple

import torch

# A node costs about a microsecond; a graph of more nodes than this is not walked to its end.
MOST_NODES = 20_000
# Attributes that a custom function put on its context, and items of a list among them, that are looked at.
MOST_ATTRIBUTES, MOST_ITEMS = 64, 256
# Nodes that run user code again in the backward: what that code touches and holds is not in the graph.
RECOMPUTING = ("CheckpointFunctionBackward",)

# Before torch 2.13 what a node saved cannot be read as it lies there: it is unpacked, which is harmless without hooks.
READABLE = hasattr(torch._C._autograd.SavedTensor, "unpack_hook")
_SAVED: dict[type, tuple[str, ...]] = {}


class Packing:
    """Whether hooks that pack what nodes save were seen in this process, where an older torch cannot be asked."""

    was_seen = False


class Walk(NamedTuple):
    """The nodes above some tensors, and whether these are all of them."""

    nodes: list[Any]
    complete: bool


class Saved(NamedTuple):
    """The tensors that nodes saved, and the names of nodes whose saved tensors cannot be read."""

    tensors: list[torch.Tensor]
    unseen: frozenset[str]


def walk(tensors: Any, *, most: int = MOST_NODES, ends: Container[Any] = ()) -> Walk:
    """Return the nodes above a tensor or several.

    Args:
        tensors: What ``backward`` was called on.
        most: Nodes after which the walk is given up.
        ends: Nodes above which nothing is looked at.
    """
    return walk_from([node for each in roots(tensors) if (node := each.grad_fn) is not None], most=most, ends=ends)


def walk_from(nodes: Iterable[Any], *, most: int = MOST_NODES, ends: Container[Any] = ()) -> Walk:
    """Return nodes and those above them, as ``walk`` does."""
    todo = list(nodes)
    seen: dict[Any, None] = {}  # in their order
    while todo:
        node = todo.pop()
        if node in seen:
            continue
        seen[node] = None
        if len(seen) > most:
            return Walk(list(seen), complete=False)
        if node not in ends:
            todo += [parent for parent, _ in node.next_functions if parent is not None and parent not in seen]
    return Walk(list(seen), complete=True)


def roots(tensors: Any) -> list[torch.Tensor]:
    """Return the tensors that ``backward`` was called on as a list."""
    if isinstance(tensors, torch.Tensor):
        return [tensors]
    return [each for each in tensors if isinstance(each, torch.Tensor)] if isinstance(tensors, (list, tuple)) else []


def leaves(nodes: Iterable[Any]) -> Iterator[torch.Tensor]:
    """Yield the tensors in which the nodes collect gradients."""
    for node in nodes:
        if type(node).__name__ == "AccumulateGrad":
            yield node.variable


def custom(nodes: Iterable[Any]) -> frozenset[str]:
    """Return the names of nodes that are functions written in Python."""
    return frozenset(type(node).__name__ for node in nodes if isinstance(node, torch._C._FunctionBase))


def saved(nodes: Iterable[Any]) -> Saved:
    """Return what nodes hold for the backward.

    The tensors are read as they lie in the graph: nothing is unpacked, so that no version is compared and no hook of
    the user's runs. What a hook has packed is not seen; with an older torch, nothing is where there were such hooks.
    """
    tensors: list[torch.Tensor] = []
    unseen: set[str] = set()
    for node in nodes:
        name = type(node).__name__
        if name == "CppFunction" or name in RECOMPUTING:
            unseen.add(str(node.name()))
        for attribute in _attributes(node):
            found, seen = _read(node, attribute)
            tensors += found
            if not seen:
                unseen.add(str(node.name()))
        if isinstance(node, torch._C._FunctionBase):
            tensors += _kept(node)
    return Saved(tensors, frozenset(unseen))


def saved_tensor(node: Any, attribute: str) -> torch.Tensor | None:
    """Return a tensor that a node saved, as it lies in the graph; None where it saved none or cannot be read."""
    tensors = saved_tensors(node, attribute)
    return tensors[0] if tensors else None


def saved_tensors(node: Any, attribute: str) -> list[torch.Tensor]:
    """Return the tensors that a node saved under one name, such as indices; none where they cannot be read."""
    return _read(node, attribute)[0] if hasattr(type(node), attribute) else []


def _attributes(node: Any) -> tuple[str, ...]:
    """Return the attributes under which a kind of node saves tensors."""
    if isinstance(node, torch._C._FunctionBase):
        return ("_raw_saved_tensors",)
    kind = type(node)
    names = _SAVED.get(kind)
    if names is None:
        names = _SAVED[kind] = tuple(name for name in dir(kind) if name.startswith("_raw_saved_"))
    return names


def _read(node: Any, attribute: str) -> tuple[list[torch.Tensor], bool]:
    """Return the tensors under one attribute, and whether all of them could be seen."""
    if not READABLE:
        return _unpacked(node, attribute)
    try:
        value = getattr(node, attribute)
    except RuntimeError:  # a backward has freed them
        return [], True
    tensors, seen = [], True
    for each in value if isinstance(value, tuple) else (value,):
        if each is None:
            continue
        if each.unpack_hook is not None:
            seen = False
        elif isinstance(each.data, torch.Tensor):
            tensors.append(each.data)
    return tensors, seen


def _unpacked(node: Any, attribute: str) -> tuple[list[torch.Tensor], bool]:
    """Do the same with an older torch, which says no otherwise whether a tensor was freed, or changed since."""
    if Packing.was_seen:
        return [], False
    custom_made = isinstance(node, torch._C._FunctionBase)
    name = attribute.replace("_raw_", "" if custom_made else "_", 1)
    try:
        value = getattr(node, name)
    except RuntimeError as error:
        return [], "inplace" not in str(error)
    values = value if isinstance(value, tuple) else (value,)
    return [each for each in values if isinstance(each, torch.Tensor)], True


def _kept(node: Any) -> list[torch.Tensor]:
    """Return the tensors that a custom function keeps as plain attributes of its context."""
    found: list[torch.Tensor] = []
    for value in list(vars(node).values())[:MOST_ATTRIBUTES]:
        if isinstance(value, torch.Tensor):
            found.append(value)
        elif isinstance(value, (list, tuple)):
            found += [each for each in value[:MOST_ITEMS] if isinstance(each, torch.Tensor)]
    return found
