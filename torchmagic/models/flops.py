"""This file is how many floating point operations an operator takes, by torch's own table and for what it lacks."""

from collections.abc import Callable
from math import prod
from typing import Any

import torch
from torch.utils.flop_counter import flop_registry, sdpa_flop_count

_MATRIX = 2  # sides of a recurrent layer's weight; a bias has one


def flops_of(operator: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> int | None:
    """Return the operations of one call, a multiplication and an addition counted as two.

    Args:
        operator: An ``OpOverload``.
        args: What it was given.
        kwargs: What it was given by name.
        result: What it gave.

    Returns:
        The number; None for an operator that nobody has a formula for, such as one that works value by value.
    """
    packet = operator._overloadpacket  # noqa: SLF001 - what torch's table is keyed by
    formula = flop_registry.get(packet)
    if formula is not None:
        return int(formula(*args, **kwargs, out_val=result))
    own = _OWN.get(packet.__name__) if operator.namespace == "aten" else None
    return None if own is None else int(own(args, result))


def _attention(args: tuple[Any, ...], _result: Any) -> int:
    query, key, value = args[:3]
    return int(sdpa_flop_count(query.shape, key.shape, value.shape))  # type: ignore[no-untyped-call] # torch


def _recurrent(args: tuple[Any, ...], _result: Any) -> int:
    weights = [each for each in torch.utils._pytree.tree_leaves(args[1:5]) if isinstance(each, torch.Tensor)]  # noqa: SLF001
    matrices = sum(each.numel() for each in weights if each.dim() == _MATRIX)
    return int(2 * matrices * prod(args[0].shape[:-1]))


def _linear(args: tuple[Any, ...], _result: Any) -> int:
    rows, weight = args[0], args[1]
    return int(2 * prod(rows.shape[:-1]) * weight.numel())


_OWN: dict[str, Callable[[tuple[Any, ...], Any], int]] = {
    "_scaled_dot_product_flash_attention_for_cpu": _attention,
    "_scaled_dot_product_fused_attention_overrideable": _attention,
    "mkldnn_rnn_layer": _recurrent,
    "_cudnn_rnn": _recurrent,
    "linear": _linear,
    "mkldnn_linear": _linear,
}
