"""This file is the wrapper of ``torch.func``: gradients of a function, which lie in no tensor's ``.grad``."""

from collections.abc import Callable
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from torchmagic.probes.sites import hide_ours
from torchmagic.probes.tracing import is_compiling
from torchmagic.probes.wrappers import Switchboard, frame_at, named_like

level: Callable[[], int | None] = torch._C._functorch.maybe_current_level


def wrap_functional(taps: Switchboard, original: Any) -> Any:
    """Wrap what ``torch.func.grad`` and ``grad_and_value`` call.

    Inside another transform no number can be read; what is asked for inside a model is part of its forward.
    """
    heard = taps.heard

    def grad_and_value_impl(func: Any, argnums: Any, has_aux: bool, args: Any, kwargs: Any) -> Any:  # noqa: FBT001 - torch's signature
        told = heard["functional_begin"] or heard["functional_gradient"]
        if taps.quiet or taps.depth or is_compiling() or level() is not None or not told:
            return original(func, argnums, has_aux, args, kwargs)
        inputs = _inputs(args, argnums)
        taps.emit("functional_begin", inputs)
        try:
            result = original(func, argnums, has_aux, args, kwargs)
        except BaseException as error:
            hide_ours(error)
            raise
        gradients, loss = result
        slopes = tree_leaves(gradients)
        taps.emit("functional_gradient", loss[0] if has_aux else loss, inputs, slopes, frame_at(1))
        taps.emit("derived", inputs, slopes)
        return result

    return named_like(grad_and_value_impl, original)


def _inputs(args: Any, argnums: Any) -> list[Any]:
    """Return the tensors that gradients are asked for; none where torch will refuse what it was given."""
    numbers = argnums if isinstance(argnums, tuple) else (argnums,)
    if not all(isinstance(number, int) and -len(args) <= number < len(args) for number in numbers):
        return []
    return tree_leaves([args[number] for number in numbers])
