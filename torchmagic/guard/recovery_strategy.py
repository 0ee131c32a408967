"""This file is ``recovery_strategy``: the first thing that is done about an error, by what the error says."""

import gc
import logging
import re
from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch import nn

from torchmagic.guard.failures import is_out_of_memory
from torchmagic.models.running import told

_GRADIENT = re.compile(r"gradient|\bgrads?\b", re.IGNORECASE)
_NAN = re.compile(r"\bnan\b|non-?finite|not finite|\binf(?:inite|inity)?\b", re.IGNORECASE)

_log = logging.getLogger("torchmagic.guard")


def recovery_strategy(error: BaseException, context: Mapping[str, Any] | None = None) -> bool:
    """Do the first thing that helps against an error, and tell whether the training may go on.

    Out of memory: unused memory is given back. An error that speaks of gradients: those of ``context["model"]`` and
    ``context["optimizer"]`` are set to zero. One that speaks of NaN or infinity: nothing, the batch is to be skipped.
    ``TrainingGuard`` does more: it repeats the step in smaller parts, and brings the last good weights back.

    Args:
        error: What was raised.
        context: May hold ``model`` (a module) and ``optimizer``.

    Returns:
        Whether the caller may go on with the next batch; False for an error of any other kind.
    """
    if is_out_of_memory(error) or "out of memory" in str(error).lower():
        free_unused_memory()
        _log.warning("%s: unused memory given back", told(error))
        return True
    if _GRADIENT.search(str(error)):
        count = _without_gradients(context or {})
        _log.warning("%s: %d gradients set to zero", told(error), count)
        return True
    if _NAN.search(str(error)):
        _log.warning("%s: skip the batch", told(error))
        return True
    return False


def free_unused_memory() -> None:
    """Collect what only cycles hold, and give back what torch's device allocators keep for later."""
    gc.collect()
    if torch.cuda.is_initialized():  # type: ignore[no-untyped-call] # torch
        torch.cuda.empty_cache()
    if torch.backends.mps.is_available():
        torch.mps.empty_cache()


def _without_gradients(context: Mapping[str, Any]) -> int:
    gradients = {id(each.grad): each.grad for each in _parameters(context) if each.grad is not None}
    for gradient in gradients.values():
        gradient.detach().zero_()
    return len(gradients)


def _parameters(context: Mapping[str, Any]) -> Iterator[torch.Tensor]:
    model, optimizer = context.get("model"), context.get("optimizer")
    if isinstance(model, nn.Module):
        yield from model.parameters()
    if isinstance(optimizer, torch.optim.Optimizer):
        for group in optimizer.param_groups:
            yield from group["params"]
