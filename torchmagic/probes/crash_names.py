"""This file looks up what the names in an expression hold, without running any code of the user's."""

import ast
import itertools
from collections import deque
from collections.abc import Mapping
from typing import Any

import torch
from torch import nn

from torchmagic.analyses.syntax import parsed_expression

# Tensors that are described, and items of a list that are looked at.
MOST_TENSORS, MOST_ITEMS = 8, 4


def tensors_named(tree: ast.expr | None, names: Mapping[str, Any]) -> list[tuple[str, torch.Tensor]]:
    """Return the tensors that an expression names, and those in lists that it names."""
    found: dict[str, torch.Tensor] = {}
    inside: set[int] = set()
    for node in ast.walk(tree) if tree is not None else ():
        if id(node) in inside or not isinstance(node, ast.Name | ast.Attribute | ast.Subscript):
            continue
        value = resolve(node, names)
        written = ast.unparse(node)
        if isinstance(value, torch.Tensor):
            found.setdefault(written, value)
            inside.update(id(part) for part in ast.walk(node) if not isinstance(part, ast.Slice))
        elif type(value) in (list, tuple, deque):
            for index, item in enumerate(itertools.islice(value, MOST_ITEMS)):
                if isinstance(item, torch.Tensor):
                    found.setdefault(f"{written}[{index}]", item)
    return list(found.items())[:MOST_TENSORS]


def value_of(written: str, names: Mapping[str, Any]) -> Any:
    """Return what an expression of names, attributes and items holds, as ``resolve`` does."""
    return resolve(parsed_expression(written), names)


def resolve(node: ast.AST, names: Mapping[str, Any]) -> Any:
    """Return what a name, attribute or item holds, without running any code; None where that cannot be told."""
    if isinstance(node, ast.Name):
        return names.get(node.id)
    if isinstance(node, ast.Attribute):
        return _attribute(resolve(node.value, names), node.attr)
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        owner, key = resolve(node.value, names), node.slice.value
        if type(owner) is dict:
            return owner.get(key)
        if type(owner) in (list, tuple) and isinstance(key, int) and -len(owner) <= key < len(owner):
            return owner[key]
    return None


def _attribute(owner: Any, name: str) -> Any:
    """Return an attribute from the dictionaries of an object, in which modules have parts of their own."""
    try:
        attributes = object.__getattribute__(owner, "__dict__")
    except AttributeError:
        return None
    if not isinstance(attributes, dict):
        return None
    if name in attributes:
        return attributes[name]
    if isinstance(owner, nn.Module):
        for part in ("_parameters", "_buffers", "_modules"):
            if name in attributes.get(part, {}):
                return attributes[part][name]
    return None
