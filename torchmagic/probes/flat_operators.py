"""This file finds flat operators: those in a graph whose slope is zero everywhere, so that no gradient comes back."""

from collections.abc import Container, Sequence
from typing import Any, NamedTuple

import torch

from torchmagic.probes.graph_walk import leaves, saved_tensor, walk, walk_from
from torchmagic.tensors.presence import has_numbers

# Operators that are flat between their jumps, by their nodes.
_STEPS = ("Round", "Floor", "Ceil", "Trunc", "Sign", "Sgn")
# Products, by what their nodes call the factors.
_FACTORS = {"MulBackward0": ("self", "other"), "MmBackward0": ("self", "mat2"), "BmmBackward0": ("self", "mat2")}
# A factor must be quick to look at.
MOST_VALUES = 65_536
_OF_NODES = {f"{name}Backward{number}": name.lower() for name in _STEPS for number in (0, 1)}


class Flat(NamedTuple):
    """Operators without a slope, by names such as ``round``, and the leaves to which every way goes through one.

    ``mul`` is a multiplication by zeros, ``div`` a division that rounds.
    """

    operators: tuple[str, ...] = ()
    behind: tuple[torch.Tensor, ...] = ()


def flat_operators(tensors: Any, nodes: Sequence[Any], *, factors: bool = False) -> Flat:
    """Return the operators that keep gradients from leaves; nothing where each has a way past them.

    Args:
        tensors: What ``backward`` is called on.
        nodes: All nodes above it.
        factors: Whether what is multiplied by is looked at too.
    """
    flat = {node: name for node in nodes if (name := _name_if_flat(node, factors=factors)) is not None}
    if not flat:
        return Flat()
    met = walk(tensors, ends=flat).nodes
    reached = {id(leaf) for leaf in leaves(met)}
    behind = {id(leaf): leaf for leaf in leaves(nodes) if id(leaf) not in reached}
    names = {flat[node] for node in met if node in flat and _leads_to(node, behind)}
    return Flat(tuple(sorted(names)), tuple(behind.values()))


def _leads_to(node: Any, wanted: Container[int]) -> bool:
    """Whether one of some leaves lies above a node."""
    return any(id(leaf) in wanted for leaf in leaves(walk_from([node]).nodes))


def _name_if_flat(node: Any, *, factors: bool) -> str | None:
    kind = type(node).__name__
    if kind.startswith("Div"):
        return "div" if getattr(node, "_saved_rounding_mode", None) else None
    if kind in _FACTORS:
        return "mul" if factors and _is_by_zero(node, _FACTORS[kind]) else None
    return _OF_NODES.get(kind)


def _is_by_zero(node: Any, names: tuple[str, str]) -> bool:
    """Whether the one factor that needs no gradient is zero; a device is not asked, for one would wait for it."""
    if sum(parent is not None for parent, _ in node.next_functions) != 1:
        return False
    factors = [saved_tensor(node, f"_raw_saved_{name}") for name in names]
    known = [each for each in factors if each is not None and each.is_cpu and 0 < each.numel() <= MOST_VALUES]
    return any(has_numbers(each) and not each.any() for each in known)
