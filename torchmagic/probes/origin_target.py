"""This file is the target: what a call that goes backward starts from, as it is written."""

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from types import FunctionType
from typing import Any

import torch
from torch.utils._pytree import tree_map

from torchmagic.probes.origin_purity import closed_over, value_of

FUNCTION = "__torchmagic_function"
# Of what the transforms return.
_CODES = {each(abs).__code__ for each in (torch.func.grad, torch.func.grad_and_value)}
Target = tuple[ast.expr, ast.expr | None]


def target_of(call: ast.Call, names: dict[str, Any]) -> Target | None:
    """Return the loss that a call of ``backward``, or of ``torch.autograd.grad``, is given, and the gradient.

    Of a call of what ``torch.func.grad`` returned it is the call of the function that was given to that; its inputs,
    where they are a variable, are made to require gradients among the names.
    """
    function = call.func
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    transform = _transform_of(function, names)
    if transform is not None:
        return _of_transform(transform, call, names), None
    if value_of(function, names) is torch.autograd.grad:
        loss = call.args[0] if call.args else given.get("outputs")
        gradient = call.args[2] if len(call.args) > 2 else given.get("grad_outputs")  # noqa: PLR2004 - the third
    elif not isinstance(function, ast.Attribute) or not function.attr.endswith("backward"):
        return None
    else:
        loss, gradient = _of_backward(function.value, call, given, names)
    if isinstance(loss, ast.Call) and isinstance(loss.func, ast.Attribute) and loss.func.attr == "scale" and loss.args:
        loss = loss.args[0]  # the loss itself, not what a gradient scaler makes of it
    return (loss, gradient) if loss is not None else None


def _of_backward(
    owner: ast.expr, call: ast.Call, given: Mapping[str | None, ast.expr], names: Mapping[str, Any]
) -> tuple[ast.expr | None, ast.expr | None]:
    of_tensor = not isinstance(owner, ast.Name) or isinstance(names.get(owner.id), torch.Tensor)
    if ast.unparse(owner) in ("torch.autograd", "autograd") or (call.args and not of_tensor):
        loss = call.args[0] if call.args else given.get("tensors")
        return loss, call.args[1] if len(call.args) > 1 else given.get("grad_tensors")
    return owner, call.args[0] if call.args else given.get("gradient")


@dataclass(frozen=True, slots=True)
class _Transform:
    """What ``torch.func.grad`` was given: the function, the number of the argument, whether it returns more."""

    function: ast.expr
    number: Any
    has_aux: Any


def _transform_of(function: ast.expr, names: dict[str, Any]) -> _Transform | None:
    """Return the transform that is written, as in ``grad(f)(x)``, or that a name stands for."""
    if isinstance(function, ast.Call):
        if value_of(function.func, names) not in (torch.func.grad, torch.func.grad_and_value) or not function.args:
            return None
        given = dict(zip(("argnums", "has_aux"), function.args[1:], strict=False))
        given |= {keyword.arg: keyword.value for keyword in function.keywords if keyword.arg is not None}
        values = {name: each.value for name, each in given.items() if isinstance(each, ast.Constant)}
        return _Transform(function.args[0], values.get("argnums", 0), values.get("has_aux", False))
    value = value_of(function, names)
    if not isinstance(value, FunctionType) or value.__code__ not in _CODES:
        return None
    inside = closed_over(value)
    names[FUNCTION] = inside["func"]
    return _Transform(ast.Name(FUNCTION, ast.Load()), inside.get("argnums", 0), inside.get("has_aux", False))


def _of_transform(transform: _Transform, call: ast.Call, names: dict[str, Any]) -> ast.expr:
    number = transform.number
    asked = call.args[number] if isinstance(number, int) and number < len(call.args) else None
    if isinstance(asked, ast.Name) and asked.id in names:
        names[asked.id] = tree_map(_learning, names[asked.id])
    loss: ast.expr = ast.Call(transform.function, call.args, call.keywords)
    if transform.has_aux:
        loss = ast.Subscript(loss, ast.Constant(0), ast.Load())
    return ast.fix_missing_locations(ast.copy_location(loss, call))


def _learning(value: Any) -> Any:
    return value.detach().requires_grad_() if isinstance(value, torch.Tensor) and value.is_floating_point() else value
