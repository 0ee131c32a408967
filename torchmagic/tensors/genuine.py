"""This file tells what is as it says from what only says so: mocks, proxies, and objects that were never made."""

from typing import Any, TypeGuard

import torch
from torch import nn
from torch.optim import Optimizer
from torch.utils.data import DataLoader

# What their constructors leave in each of these; a class may compute it, or pass on what another one has.
_MADE_OF = ((nn.Module, "_modules"), (Optimizer, "param_groups"), (DataLoader, "batch_sampler"))
_MADE = tuple(kind for kind, _ in _MADE_OF)


def is_genuine(value: Any) -> bool:
    """Whether a value is what it says it is, so that whoever asks ``isinstance`` can rely on the answer.

    A mock or a proxy names another class than its type, and a proxy whose object is gone, or not there yet, raises
    where it is asked. A module, an optimizer or a loader whose constructor did not run has nothing to be read. What
    accelerate puts around a loader counts as one, for it passes everything on.
    """
    try:
        kind = value.__class__
        honest = kind is type(value) or issubclass(kind, DataLoader)
        return honest and (not isinstance(value, _MADE) or _is_made(value))
    except Exception:  # noqa: BLE001 - the code of whoever made it
        return False


def is_optimizer(value: Any) -> bool:
    """Whether a value is an optimizer, whose parameters can be asked for."""
    return is_genuine(value) and isinstance(value, Optimizer)


def is_tensor(value: Any) -> TypeGuard[torch.Tensor]:
    """Whether a value is a tensor, whatever it says."""
    return issubclass(type(value), torch.Tensor)


def attributes_of(value: Any) -> dict[str, Any]:
    """Return an object's dictionary, without asking its class for it; an empty one where it has none."""
    try:
        attributes = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return {}
    return attributes if isinstance(attributes, dict) else {}


def _is_made(value: Any) -> bool:
    return any(hasattr(value, name) for kind, name in _MADE_OF if isinstance(value, kind))
