"""This file is the spoiled variables: what no gradient goes into, and was not finite before it met a loss."""

import ast
from collections.abc import Iterable
from types import FrameType
from typing import Any

import torch

from torchmagic.analyses.syntax import tree_of
from torchmagic.probes.graph_walk import saved_tensor
from torchmagic.probes.origin_trace import storage_of
from torchmagic.probes.sites import Site, source_of, user_frame
from torchmagic.tensors.finite import is_finite
from torchmagic.tensors.presence import has_numbers

OPERANDS = ("_raw_saved_other", "_raw_saved_self")


def spoiled_variable(nodes: Iterable[Any], frame: FrameType | None) -> tuple[str, Site] | None:
    """Return a variable that a loss is multiplied or divided by and that is not finite, and the line that computes it.

    None where there is none, and where what it is computed from is not finite either: then it began there.
    """
    user = user_frame(frame)
    if user is None:
        return None
    for node in nodes:
        for value in (saved_tensor(node, each) for each in OPERANDS if hasattr(node, each)):
            if value is not None and not value.requires_grad and _is_broken(value):
                return _computed(user, value)
    return None


def _is_broken(value: Any) -> bool:
    return type(value) is torch.Tensor and value.is_floating_point() and has_numbers(value) and not is_finite(value)


def _computed(user: FrameType, value: torch.Tensor) -> tuple[str, Site] | None:
    """Return the variable of a frame that holds a value, and the line above that computes it."""
    held = {name: each for name, each in user.f_locals.items() if type(each) is torch.Tensor}
    name = next((name for name, each in held.items() if storage_of(each) == storage_of(value)), None)
    given = [node for node in ast.walk(tree_of(source_of(user.f_code.co_filename))) if isinstance(node, ast.Assign)]
    above = [node for node in given if node.lineno < user.f_lineno and _is_name(node.targets[0], name)]
    last = max(above, key=lambda node: node.lineno, default=None)
    if name is None or last is None or not isinstance(last.value, ast.BinOp | ast.Call):
        return None
    read = {part.id for part in ast.walk(last.value) if isinstance(part, ast.Name)} - {name}
    return None if any(_is_broken(held.get(each)) for each in read) else (name, Site(user.f_code, last.lineno))


def _is_name(target: ast.expr, name: str | None) -> bool:
    return isinstance(target, ast.Name) and target.id == name
